// Why flows were slow: roots, a matrix of flows and roots, and the time of one flow.
import { causeBar, CauseCourse, partsOf } from "./causechart";
import { dataTable, type Column } from "./datatable";
import { button, choice, el } from "./dom";
import { digits, showTime } from "./format";
import type { Run } from "./run";
import type { CauseAbout, RootAbout, WhyAbout, WhyFlow } from "./types";

/** Flows and roots of the matrix. */
const ROWS = 40;
const COLUMNS = 12;
/** Part of its time that a flow loses noticeably. */
const NOTICEABLE = 0.01;

const percent = (share: number) => (share < 0.0005 ? "" : `${digits(share * 100, 3)} %`);

/** The part of the page; `pick` shows a flow in it. */
export function whyPart(run: Run, why: WhyAbout): { root: HTMLElement; pick: (flow: number) => void } {
  const panel = el("div", { class: "why-flow" });
  const options = why.flows.map(({ number, flow }): [string, string] => [String(number), flow]);
  const picker = choice("flow", options, options[0]?.[0] ?? "", (value) => pick(Number(value)));
  const pick = (number: number) => {
    const flow = why.flows.find((candidate) => candidate.number === number);
    if (!flow) {
      const name = run.flows[number]?.name ?? "";
      panel.replaceChildren(el("p", { class: "note" }, `${name}: the report has the causes of the ${why.flows.length} flows that lost most. See all others with `, el("code", {}, "tailback why RESULTS --flow NAME"), "."));
      return;
    }
    const select = picker.querySelector("select");
    if (select) select.value = String(number);
    const parts = partsOf(flow);
    const course = new CauseCourse(run, flow, parts);
    panel.replaceChildren(el("p", { class: flow.victim ? "why-sentence victim" : "why-sentence" }, flow.sentence), causeBar(flow, parts), ...(course.empty ? [] : [course.root]));
  };
  const shown = why.flows.length < why.started ? ` The report has the ${why.flows.length} flows of ${why.started} that lost most.` : "";
  const note = el("p", { class: "note" }, `Measured, not estimated: every picosecond of a flow has one cause.${shown}`);
  const root = el("div", { class: "why" }, note, rootTable(why.roots), matrix(why, (flow) => {
    pick(flow);
    panel.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }), el("h3", {}, "One flow"), el("div", { class: "controls" }, picker), panel);
  const [first] = why.flows;
  if (first) pick(first.number);
  return { root, pick };
}

function rootTable(roots: RootAbout[]): HTMLElement {
  const time = (name: string, meaning: string, value: (root: RootAbout) => number): Column<RootAbout> => ({ name, meaning, number: true, value: (root) => value(root) / 1e12, text: (root) => showTime(value(root), 3) });
  const columns: Column<RootAbout>[] = [
    { name: "root", value: ({ name }) => name },
    { name: "kind", meaning: "output: more is sent to it than its link carries; receiver: its host consumes slowly; link: it failed; cycle: links wait for each other; credits: the buffer is small for the round trip; resume: the sender has not resumed yet", value: ({ root }) => root },
    time("time lost", "by all flows", ({ picoseconds }) => picoseconds),
    time("by victims", "by flows that do not use it", ({ victim_picoseconds }) => victim_picoseconds),
    { name: "culprits", value: ({ culprits }) => culprits.join(", "), kind: () => "wide" },
  ];
  return dataTable("Roots", columns, roots, { sort: 2, descending: true, note: "ports and hosts at which blocking begins, and the flows to blame" });
}

interface Place {
  key: string;
  name: string;
  sum: number;
}

/** Where a cause lies, if it lies anywhere that other flows share. */
function placeOf({ cause, root, link, port }: CauseAbout): { key: string; name: string } | null {
  if (link === null || port === null) return null;
  if (root !== null) return { key: `${root} ${port}`, name: root === "output" ? link : `${link} (${root})` };
  return cause === "contention" || cause === "receiver" || cause === "link-down" ? { key: `${cause} ${port}`, name: `${link} (${cause})` } : null;
}

/** Who was hurt by what: the part of its time that each flow lost to each root. */
function matrix(why: WhyAbout, pick: (flow: number) => void): HTMLElement {
  const places = new Map<string, Place>();
  for (const flow of why.flows) {
    for (const cause of flow.causes) {
      const place = placeOf(cause);
      if (!place) continue;
      const known = places.get(place.key) ?? { ...place, sum: 0 };
      known.sum += cause.picoseconds;
      places.set(place.key, known);
    }
  }
  const columns = [...places.values()].sort((a, b) => b.sum - a.sum).slice(0, COLUMNS);
  const rows = why.flows.slice(0, ROWS);
  if (columns.length === 0 || rows.length === 0) return el("p", { class: "note" }, "No flow waited for another.");
  const head = el("tr", {}, el("th", {}, "flow"), ...columns.map(({ name }) => el("th", { class: "number", title: name }, name)));
  const cellOf = (flow: WhyFlow, { key, name }: Place) => {
    const causes = flow.causes.filter((cause) => placeOf(cause)?.key === key);
    const share = causes.reduce((sum, { picoseconds }) => sum + picoseconds, 0) / Math.max(1, flow.picoseconds);
    const foreign = causes.some(({ on_path, root }) => on_path === false && root !== null);
    const by = [...new Set(causes.flatMap(({ by }) => by.map((culprit) => culprit.flow)))].slice(0, 8);
    const title = causes.length === 0 ? "" : `${flow.flow} lost ${percent(share)} of its time at ${name}${foreign ? ", which it does not use" : ""}${by.length > 0 ? `, to ${by.join(", ")}` : ""}`;
    const cell = el("td", { class: foreign && share >= NOTICEABLE ? "number foreign" : "number", title }, percent(share));
    cell.style.setProperty("--shade", `${Math.round(Math.min(1, share) * 60)}%`);
    return cell;
  };
  const body = rows.map((flow) => el("tr", {}, el("th", { class: flow.victim ? "victim" : "" }, button(flow.flow, () => pick(flow.number), { title: flow.sentence })), ...columns.map((place) => cellOf(flow, place))));
  const left = [why.flows.length > rows.length ? `the ${rows.length} worst flows` : "", places.size > columns.length ? `the ${columns.length} worst places` : ""].filter((text) => text !== "").join(", ");
  return el(
    "section",
    { class: "table matrix" },
    el("header", {}, el("h3", {}, "Who hurt whom"), el("span", { class: "note" }, `part of its time that a flow lost at each root; outlined: a root that it does not use${left === "" ? "" : `; ${left}`}`)),
    el("div", { class: "scroll", tabindex: 0, role: "region", aria: { label: "Who hurt whom" } }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...body))),
  );
}
