// The report of a comparison: the drawings side by side under one slider, overlays, small multiples, and each run's tables.
import { dataTable, type Column } from "./datatable";
import { el, whenSeen } from "./dom";
import { show } from "./format";
import { TimeLink } from "./link";
import { Run } from "./run";
import { runCharts, throughputChart } from "./runcharts";
import { flowTable, joinedNote, linkTable, queueTable } from "./runtables";
import { story, summary } from "./runpage";
import { section } from "./shell";
import { stage } from "./stage";
import type { Report } from "./types";

type Row = Record<string, string | number | null>;

/** The drawings of several runs, and what is to be seen in each. */
export function networks(runs: Run[], link: TimeLink): HTMLElement[] {
  // Beside each other up to four can be read.
  const shown = runs.slice(0, 4);
  const made = stage(shown, link);
  const words = el("div");
  if (runs.length > shown.length) words.append(el("p", { class: "note" }, `Only the first ${shown.length} of ${runs.length} runs are drawn.`));
  void made.courses.then((courses) => {
    if (courses.every((course) => course.weight === 0)) return;
    courses.forEach((course, i) => {
      const told = story(shown[i], course) ?? el("p", { class: "note" }, "No link was blocked.");
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
  const each = runs.map((run) => {
    const details = el("details", {}, el("summary", {}, run.label || "Tables of the run"));
    const body = el("div");
    details.append(body);
    whenSeen(body, () => body.append(summary(run), flowTable(run, null), linkTable(run), queueTable(run)));
    return details;
  });
  into(runs.length > 1 ? "Each run" : "Tables", "runs", ...each);
}

export async function comparePage(report: Report, into: HTMLElement): Promise<void> {
  const compare = report.compare!;
  const link = new TimeLink(Math.max(1, ...report.runs.map((run) => run.manifest.simulated_ps)));
  const runs = report.runs.map((about) => new Run(about, link));
  const rate = (name: string, key: string): Column<Row> => ({ name, number: true, value: (row) => row[key], text: (row) => show(row[key] as number | null, "rate") });
  const columns: Column<Row>[] = [
    { name: compare.key, value: (row) => row["value"] },
    { name: "workload", value: (row) => row["workload"] },
    { name: "outcome", value: (row) => row["outcome"] },
    rate("mean rate", "mean_bits_per_second"),
    rate("lowest rate", "least_bits_per_second"),
    { name: "Jain index", number: true, value: (row) => row["jain_index"], text: (row) => show(row["jain_index"] as number | null, "plain") },
    { name: "mean completion time", number: true, value: (row) => row["mean_completion_seconds"], text: (row) => show(row["mean_completion_seconds"] as number | null, "time") },
    { name: "pause frames", number: true, value: (row) => row["pause_frames"] },
    { name: "dropped", number: true, value: (row) => row["dropped_frames"] },
    { name: "fingerprint", value: (row) => row["fingerprint"] },
  ];
  into.append(section("Side by side", "table", dataTable("Comparison", columns, compare.rows)));
  await Promise.all(runs.map((run) => run.load()));
  into.append(section("Networks", "networks", ...networks(runs, link)));
  overlays(runs, link, (title, id, ...children) => into.append(section(title, id, ...children)));
  const joined = joinedNote(runs);
  if (joined) into.append(joined);
}
