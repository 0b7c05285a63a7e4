// The report of a comparison: the drawings side by side under one slider, overlays, small multiples, and each run's tables.
import { dataTable, type Column } from "./datatable";
import { el, whenSeen } from "./dom";
import { show } from "./format";
import { GridChart, type GridLine } from "./gridchart";
import { TimeLink } from "./link";
import { Run } from "./run";
import { pauseChart, queueMultiples, runCharts, throughputChart } from "./runcharts";
import { flowTable, joinedNote, linkTable, queueTable } from "./runtables";
import { story, summary } from "./runpage";
import { section } from "./shell";
import { stage } from "./stage";
import type { Quantity, Report } from "./types";

type Row = Record<string, string | number | null>;

/** Networks that are drawn beside each other: three rows of three on a wide screen. */
const MOST_DRAWN = 9;

/** The drawings of several runs, and what is to be seen in each; `measure` says how to measure what is estimated. */
export function networks(runs: Run[], link: TimeLink, measure: string): HTMLElement[] {
  const shown = runs.slice(0, MOST_DRAWN);
  const made = stage(shown, link);
  const words = el("div");
  if (runs.length > shown.length) words.append(el("p", { class: "note" }, `Only the first ${shown.length} of ${runs.length} runs are drawn.`));
  void made.courses.then((courses) => {
    if (courses.every((course) => course.weight === 0)) return;
    courses.forEach((course, i) => {
      const told = story(shown[i], course, measure) ?? el("p", { class: "note" }, "No link was blocked.");
      words.append(...(shown.length > 1 ? [el("h4", {}, shown[i].label)] : []), told);
    });
  });
  return [made.root, words];
}

/** The series of several runs over each other, with their own tables folded away. */
export function overlays(runs: Run[], link: TimeLink, into: (title: string, id: string, ...children: HTMLElement[]) => void): void {
  into(runs.length > 1 ? "Overlays" : "Over time", "overlays", ...runCharts(runs, link));
  const multiples = el("div", { class: "multiples" });
  // One scale for all, or they could not be compared.
  let most = 0;
  for (const run of runs.filter((of) => of.has("flow_samples"))) {
    const groups = run.workloads.length > 0 ? run.groups().map((group) => group.members) : run.flows.map((flow) => [flow.number]);
    for (const members of groups) most = Math.max(most, run.throughput("flow_samples", members, run.windows().own).extremes(0, run.end)[1]);
  }
  for (const run of runs.length > 1 ? runs : []) {
    const chart = throughputChart([run], link, { title: run.label, range: [0, most * 1.06 || 1] });
    if (chart) multiples.append(chart.root);
  }
  if (multiples.childElementCount > 0) into("Small multiples: throughput", "multiples", multiples);
  const queues = runs.length > 1 ? queueMultiples(runs, link) : [];
  if (queues.length > 0) into("Small multiples: the fullest queues", "queues", el("div", { class: "multiples" }, ...queues.map((chart) => chart.root)));
  const pauses = runs.length > 1 ? runs.flatMap((run) => pauseChart(run, link, run.label) ?? []) : [];
  if (pauses.length > 0) {
    const none = runs.filter((run) => run.keys("pauses").length === 0).map((run) => run.label);
    const note = none.length > 0 ? [el("p", { class: "note" }, `No port was paused with ${none.join(", ")}.`)] : [];
    into("Small multiples: pauses", "pauses", el("div", { class: "multiples wide" }, ...pauses.map((chart) => chart.root)), ...note);
  }
  const each = runs.map((run) => {
    const details = el("details", {}, el("summary", {}, run.label || "Tables of the run"));
    const body = el("div");
    details.append(body);
    whenSeen(body, () => body.append(summary(run), flowTable(run, null), linkTable(run), queueTable(run)));
    return details;
  });
  into(runs.length > 1 ? "Each run" : "Tables", "runs", ...each);
}

/** Bars of a quantity, a group for each run: one bar for each workload, or one for the run. */
function bars(rows: Row[], key: string, along: string, title: string, note: string, quantity: Quantity, perRun: boolean): GridChart[] {
  const lines = new Map<string, GridLine>();
  const seen = new Set<string>();
  for (const row of rows) {
    const value = row[key];
    const name = perRun ? title : String(row["workload"]);
    const place = `${name}\n${row["value"]}`;
    if (typeof value !== "number" || seen.has(place)) continue;
    seen.add(place);
    const line = lines.get(name) ?? { name, points: [] };
    lines.set(name, line);
    line.points.push({ x: { text: String(row["value"]), number: null, quantity: null }, value, low: value, high: value });
  }
  const made = [...lines.values()];
  if (made.every((line) => line.points.every(({ value }) => value === 0))) return [];
  return [new GridChart({ title, note, along, y: title.toLowerCase(), quantity, bars: true, lines: made, height: 220 })];
}

/** Queues, rates, pauses and completion times of all runs, as bars. */
function sideBySide(along: string, rows: Row[]): HTMLElement {
  const run = (key: string, title: string, note: string, quantity: Quantity) => bars(rows, key, along, title, note, quantity, true);
  const workload = (key: string, title: string, note: string, quantity: Quantity) => bars(rows, key, along, title, note, quantity, false);
  const charts = [
    ...run("mean_queue_bytes", "Mean queue", "the output queue with the largest mean", "size"),
    ...run("longest_queue_bytes", "Longest queue", "the maximum of all output queues", "size"),
    ...workload("mean_bits_per_second", "Mean rate", "of the flows of a workload", "rate"),
    ...workload("least_bits_per_second", "Lowest rate", "of the flows of a workload", "rate"),
    ...workload("mean_completion_seconds", "Mean completion time", "of the flows that completed", "time"),
    ...workload("slowest_completion_seconds", "Slowest completion", "of the flows that completed", "time"),
    ...run("pause_frames", "Pause frames", "sent in the whole run", "count"),
    ...run("paused", "Paused time", "of the port that is paused longest", "fraction"),
    ...run("dropped_frames", "Dropped frames", "in the whole run", "count"),
  ];
  return el("div", { class: "multiples" }, ...charts.map((chart) => chart.root));
}

export async function comparePage(report: Report, into: HTMLElement): Promise<void> {
  const compare = report.compare!;
  const link = new TimeLink(Math.max(1, ...report.runs.map((run) => run.manifest.simulated_ps)));
  const runs = report.runs.map((about) => new Run(about, link));
  const number = (name: string, key: string, quantity: Quantity, meaning: string): Column<Row> => ({ name, meaning, number: true, value: (row) => row[key] ?? null, text: (row) => show((row[key] ?? null) as number | null, quantity) });
  const measured: Column<Row>[] = [
    { name: "victims", meaning: "of the workload's flows, by the causes of the run", number: true, value: (row) => row["victims"] ?? null },
    { name: "worst root", meaning: "to which all flows of the run lost most time", value: (row) => row["root"] ?? null, text: (row) => String(row["root"] ?? "").replace("->", "\u2192") },
    number("time lost to it", "root_seconds", "time", "by all flows of the run"),
  ];
  const columns: Column<Row>[] = [
    { name: compare.key, value: (row) => row["value"] },
    { name: "workload", value: (row) => row["workload"] },
    number("mean queue", "mean_queue_bytes", "size", "of the output queue with the largest mean, after the warm-up"),
    number("longest queue", "longest_queue_bytes", "size", "the maximum of all output queues"),
    number("mean rate", "mean_bits_per_second", "rate", "of the workload's flows"),
    number("lowest rate", "least_bits_per_second", "rate", "of the workload's flows"),
    { name: "Jain index", number: true, value: (row) => row["jain_index"], text: (row) => show(row["jain_index"] as number | null, "plain") },
    { name: "completed", meaning: "of the workload's finite flows", number: true, value: (row) => row["completed"] ?? null, text: (row) => (row["finite"] ? `${row["completed"]} of ${row["finite"]}` : "") },
    number("mean completion time", "mean_completion_seconds", "time", "of the flows that completed"),
    number("slowest completion", "slowest_completion_seconds", "time", "of the flows that completed"),
    { name: "pause frames", number: true, value: (row) => row["pause_frames"] },
    number("paused", "paused", "fraction", "part of the time that one port was paused, at most"),
    { name: "dropped", number: true, value: (row) => row["dropped_frames"] },
    { name: "fullest queue", meaning: "the link that this queue waits for", value: (row) => row["fullest_queue"] ?? null, text: (row) => String(row["fullest_queue"] ?? "").replace("->", " \u2192 ") },
    ...(compare.rows.some((row) => typeof row["victims"] === "number") ? measured : []),
    { name: "outcome", value: (row) => row["outcome"] },
    { name: "fingerprint", value: (row) => row["fingerprint"] },
  ];
  into.append(section("Side by side", "table", dataTable("Comparison", columns, compare.rows), sideBySide(compare.key, compare.rows)));
  await Promise.all(runs.map((run) => run.load()));
  into.append(section("Networks", "networks", ...networks(runs, link, "tailback compare FILE ... --why --report")));
  overlays(runs, link, (title, id, ...children) => into.append(section(title, id, ...children)));
  const joined = joinedNote(runs);
  if (joined) into.append(joined);
}
