// The report of one run.
import { el, whenSeen } from "./dom";
import { show, showTime } from "./format";
import { Run, type Flow } from "./run";
import { chartMakers } from "./runcharts";
import { flowTable, joinedNote, linkTable, planTable, queueTable, totalsTable } from "./runtables";
import { section, facts } from "./shell";
import { completionChart, delayTable, queueHeat, rankTimeline, requestChart, requestTable, slowdownChart } from "./spreadcharts";
import { stage } from "./stage";
import type { Course } from "./tree";
import { inTurn } from "./turns";
import type { RunAbout } from "./types";
import { expectationTable } from "./verdicts";
import { whyPart } from "./whypage";

const GOOD: Record<string, string> = { finished: "good", deadlock: "bad", stalled: "bad", livelock: "bad", loss: "bad", limit: "warning", interrupted: "warning" };

function count(number: number, what: string): string {
  return `${show(number, "count")} ${what}${number === 1 ? "" : what.endsWith("ch") ? "es" : "s"}`;
}

/** How a run ended, and how that looks: finished is not good if frames were dropped. */
export function outcome(run: Run): HTMLElement {
  const { kind } = run.about.manifest.outcome;
  const { totals } = run.about.manifest;
  const frames = (number: number, what: string) => (number > 0 ? [`${show(number, "count")} ${number === 1 ? "frame" : "frames"} ${what}`] : []);
  const again = totals["requeued_frames"] ?? 0;
  const dropped = frames(totals["dropped_frames"] ?? 0, "dropped").map((text) => (again > 0 ? `${text} (${show(again, "count")} of them queued again by the oracle)` : text));
  const unpaused = totals["pause_lost_frames"] ?? 0;
  const others = [
    ...frames(totals["watchdog_frames"] ?? 0, "dropped by PFC watchdogs"),
    ...frames(totals["trimmed_frames"] ?? 0, "trimmed"),
    ...frames((totals["lost_frames"] ?? 0) - unpaused, "lost on links"),
    ...frames(unpaused, "lost after a lost pause"),
  ];
  const losses = kind === "finished" ? [...dropped, ...others] : [];
  const look = losses.length > 0 ? "warning" : (GOOD[kind] ?? "");
  return el("span", { class: `verdict ${look}` }, [kind, ...losses].join(", "));
}

/** A fact about a total that most runs do not have. */
function counted(totals: Record<string, number>, what: string, key: string): [string, string][] {
  return (totals[key] ?? 0) === 0 ? [] : [[what, show(totals[key], "count")]];
}

/** Cables that failed, and when. */
function failures(run: Run): string {
  const told = run.failures().map(({ cable, from, to }) => `${cable} from ${showTime(from, 3)} ${to === null ? "to the end" : `to ${showTime(to, 3)}`}`);
  const most = 8;
  return told.length > most ? `${told.slice(0, most).join(", ")} and ${told.length - most} more` : told.join(", ");
}

/** How a run ended and what it was. */
export function summary(run: Run): HTMLElement {
  const { manifest } = run.about;
  const { totals } = manifest;
  const failed = failures(run);
  const never = run.flows.filter((flow) => flow.never).length;
  const hosts = run.nodes.filter((node) => node.host).length;
  const list = facts([
    ["outcome", outcome(run)],
    ["simulated", showTime(manifest.simulated_ps)],
    ["network", [count(hosts, "host"), count(run.nodes.length - hosts, "switch"), count(run.flows.length, "flow")].join(", ")],
    ...(failed === "" ? [] : [["failed links", failed] as [string, string]]),
    ...(never === 0 ? [] : [["never complete", `${count(never, "flow")}: lost frames are not retransmitted`] as [string, string]]),
    ["delivered", show(totals["delivered_bytes"], "size")],
    ["dropped frames", show(totals["dropped_frames"], "count")],
    ["lost on links", show((totals["lost_frames"] ?? 0) - (totals["pause_lost_frames"] ?? 0), "count")],
    ...counted(totals, "lost after a lost pause", "pause_lost_frames"),
    ...counted(totals, "dropped by PFC watchdogs", "watchdog_frames"),
    ...((totals["storms"] ?? 0) === 0 ? [] : [["PFC storms", `${show(totals["storms"], "count")}; ${show(totals["restored_storms"] ?? 0, "count") || "0"} restored`] as [string, string]]),
    ...counted(totals, "trimmed frames", "trimmed_frames"),
    ...((totals["lost_control"] ?? 0) === 0 ? [] : [["lost control frames", `${show(totals["lost_control"], "count")}; ${count(totals["lost_acknowledgements"] ?? 0, "acknowledgement")}`] as [string, string]]),
    ...((totals["retransmitted_frames"] ?? 0) === 0 ? [] : [["retransmitted frames", `${show(totals["retransmitted_frames"], "count")}; ${count(totals["timeouts"] ?? 0, "timeout")}, ${count(totals["negative_acknowledgements"] ?? 0, "NAK")}`] as [string, string]]),
    ["pause frames", show(totals["pause_frames"], "count")],
    ["marked frames", show(totals["marked_frames"], "count")],
    ["notices", show(totals["notices"], "count")],
    ["seed", String(manifest.seed)],
    ["fingerprint", el("code", {}, manifest.fingerprint)],
    ["wall time", `${show(manifest.wall_seconds, "time", 3)} on ${manifest.threads} ${manifest.threads === 1 ? "thread" : "threads"}`],
    ["program", `tailback ${manifest.version}${manifest.commit ? `, commit ${manifest.commit.slice(0, 12)}` : ""}`],
  ]);
  const text = manifest.outcome.text === "" ? null : el("pre", { class: "outcome" }, manifest.outcome.text);
  const description = manifest.plan?.description;
  const { expectations } = run.about;
  const expected = expectations && expectations.length > 0 ? expectationTable(expectations) : null;
  return el("div", { class: "summary" }, description ? el("p", { class: "description" }, description) : null, list, text, expected);
}

/** How to measure what is estimated here: a command, or what a scenario records. */
export const MEASURE_RUN = "tailback run FILE --why --report";

/** The run in words: from its causes where they were measured, otherwise from the worst moment of its samples. */
export function story(run: Run, course: Course, measure = MEASURE_RUN): HTMLElement | null {
  if (run.why) return el("p", { class: "story" }, run.why.headline);
  const told = estimated(run, course);
  told?.append(" ", el("span", { class: "note" }, "Roots and victims are estimated from samples; ", el("code", {}, measure), " measures them."));
  return told;
}

/** What the worst moment was, in words. */
function estimated(run: Run, course: Course): HTMLElement | null {
  const { worst } = course;
  if (!worst) return null;
  if (worst.trees.length === 0) {
    if (worst.circle.length === 0) return null;
    const directions = worst.circle.map(({ port, class: of }) => run.directionOf(port, of)).join(", ");
    return el("p", { class: "story" }, `Deadlock from ${showTime(course.stretch[0])}: these links wait for each other in a cycle: ${directions}.`);
  }
  const part = (share: number) => `${Math.round(share * 100)} %`;
  const share = (of: number) => (of < 0.005 ? "less than 1 %" : part(of));
  // One that has caught up by the end has no less than its share over its life.
  const gets = ({ throughput, fairShare }: Flow) => (throughput !== null && fairShare !== null && throughput < fairShare ? [`${show(throughput, "rate", 3)} of ${show(fairShare, "rate", 3)}`] : []);
  const tree = worst.trees.reduce((a, b) => (b.directions.length > a.directions.length ? b : a));
  const victims = [...course.suffered.entries()].filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  const names = victims.slice(0, 5).map(([flow, count]) => `${run.flows[flow].name} (${[`${share(count)} of its time`, ...gets(run.flows[flow])].join("; ")})`);
  const directions = tree.directions.length === 1 ? "one link" : `${tree.directions.length} links`;
  const [from, to] = course.stretch;
  const [begin, end] = [showTime(from, 3), showTime(to, 3)];
  const when = begin === end ? `at ${showTime(worst.at)}` : `from ${begin} to ${end}`;
  const often = course.part > 0.995 ? "all the time" : course.part < 0.005 ? "less than 1 % of the time" : `${part(course.part)} of the time`;
  const sentences = [`Links are blocked ${often}. Congestion is worst ${when}: ${run.directionOf(tree.root, tree.class)} blocks ${directions}.`];
  if (victims.length > 0) {
    const more = victims.length > 5 ? ` and ${victims.length - 5} more` : "";
    sentences.push(`Victims (flows below their fair share that do not contribute to the congestion): ${names.join(", ")}${more}.`);
  }
  return el("p", { class: "story" }, sentences.join(" "));
}

export async function runPage(about: RunAbout, into: HTMLElement): Promise<void> {
  const run = new Run(about);
  await run.open();
  const top = summary(run);
  into.append(section("Outcome", "outcome", top));
  // What the network and the first chart need; the rest is unpacked while they are looked at.
  await run.load(["links", "starved", "queues", "pauses", "flow_samples", "fair_shares", "notices", "trees", "cause_samples"]);
  const made = stage([run], run.link);
  into.append(section("Network", "network", made.root));
  const why = run.why ? whyPart(run, run.why) : null;
  if (why) into.append(section("Why", "why", why.root));
  const time = section("Over time", "time");
  into.append(time);
  inTurn(() => run.load());
  chartMakers([run], run.link).forEach((make, place) => {
    const put = () => void time.append(...[make()?.root ?? []].flat());
    // The first is seen with the network; the others follow.
    if (place === 0) put();
    else inTurn(put);
  });
  inTurn(() => void time.append(...[queueHeat(run, run.link), ...rankTimeline(run, run.link)].flatMap((chart) => chart?.root ?? [])));
  const spread = [completionChart(run), slowdownChart(run), requestChart(run)].flatMap((chart) => chart?.root ?? []);
  if (spread.length > 0) into.append(section("Completion", "completion", ...spread));
  const tables = section("Tables", "tables");
  into.append(tables);
  const flows = el("div");
  tables.append(flows);
  void made.courses.then(([course]) => {
    flows.append(flowTable(run, course, why?.pick));
    const words = story(run, course);
    if (words) top.append(words);
  });
  const rest = el("div");
  tables.append(rest);
  whenSeen(rest, () => rest.append(...[linkTable(run), queueTable(run), delayTable(run), requestTable(run)].flatMap((table) => table ?? [])));
  const plan = section("Plan", "plan");
  into.append(plan);
  inTurn(() => fillPlan(run, plan));
}

/** The plan, the totals, and what it was made from. */
function fillPlan(run: Run, plan: HTMLElement): void {
  const inputs = run.about.manifest.inputs.map((input) => el("li", {}, el("code", {}, input.path), " ", el("code", { class: "hash" }, input.hash)));
  plan.append(planTable(run), totalsTable(run), el("h3", {}, "Input files"), el("ul", { class: "inputs" }, ...inputs));
  const joined = joinedNote([run]);
  if (joined) plan.append(joined);
}
