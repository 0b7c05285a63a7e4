// Pictures of traffic that ends: queues by port, collective operations by rank, distributions of times and slowdowns.
import { BandChart, type BandRow } from "./bandchart";
import { CurveChart, type Curve } from "./curvechart";
import { dataTable, type Column } from "./datatable";
import { choice, el } from "./dom";
import { show, showTime } from "./format";
import { HeatRows } from "./heatrows";
import type { TimeLink } from "./link";
import type { Run } from "./run";
import type { Cells } from "./types";

/** Rows of a heat map. */
const MOST_ROWS = 32;
/** Points of a curve: beyond it, every n-th one is drawn. */
const MOST_POINTS = 2000;

function numbers(cells: Cells | undefined): (number | null)[] {
  return (cells ?? []).map((cell) => (cell === null || cell === undefined ? null : Number(cell)));
}

/** Output queues over time by port: the longest ones of all classes, or of one. */
export function queueHeat(run: Run, link: TimeLink): { root: HTMLElement } | null {
  const several = (run.network?.classes.length ?? 1) > 1;
  const of = run.keys("queues").map((key) => {
    const values = run.column("queues", "output_bytes", ...key);
    let [most, sum] = [0, 0];
    for (const value of values) {
      most = Math.max(most, value);
      sum += value;
    }
    return { key, most, weight: most + sum / (values.length || 1) };
  });
  const used = of.filter((queue) => queue.most > 0);
  if (used.length === 0) return null;
  const root = el("div");
  const show = (chosen: string) => {
    const shown = used.filter(({ key }) => chosen === "all" || String(key[1]) === chosen).sort((a, b) => b.weight - a.weight);
    const rows = shown.slice(0, MOST_ROWS).map(({ key }) => ({
      name: `${run.ports[key[0]].direction}${several && chosen === "all" ? `, ${run.className(key[1])}` : ""}`,
      series: run.level("queues", "output_bytes", [key], 0),
    }));
    const left = shown.length > MOST_ROWS ? `; the ${MOST_ROWS} longest of ${shown.length}` : "";
    const classes = [...new Set(used.map(({ key }) => key[1]))].sort((a, b) => a - b);
    const options: [string, string][] = [["all", "all classes"], ...classes.map((number): [string, string] => [String(number), run.className(number)])];
    const control = classes.length > 1 ? choice("show", options, chosen, show) : null;
    root.replaceChildren(new HeatRows("Output queues by port", `sampled every ${showTime(run.sample)}${left}`, "size", rows, link, run.end, control).root);
  };
  show("all");
  return { root };
}

/** When the ranks of collective operations were at work, iteration by iteration. */
export function rankTimeline(run: Run, link: TimeLink): { root: HTMLElement }[] {
  const table = run.about.collective_ranks ?? {};
  const [collective, group, rank] = ["collective", "group", "rank"].map((name) => numbers(table[name]));
  const [start, end] = [numbers(table["start"]), numbers(table["end"])];
  const hosts = table["host"] ?? [];
  const charts = new Map<number, Map<string, { name: string; spans: [number, number][] }>>();
  for (let i = 0; i < rank.length; i++) {
    if (start[i] === null) continue;
    const rows = charts.get(collective[i]!) ?? new Map<string, { name: string; spans: [number, number][] }>();
    charts.set(collective[i]!, rows);
    const key = `${group[i]} ${rank[i]}`;
    const row = rows.get(key) ?? { name: `${rank[i]} ${String(hosts[i] ?? "")}`, spans: [] };
    rows.set(key, row);
    row.spans.push([start[i]!, end[i] ?? run.end]);
  }
  return [...charts].map(([number, rows]) => {
    const made: BandRow[] = [...rows.values()].slice(0, 64).map(({ name, spans }) => ({
      name,
      starts: Float64Array.from(spans, ([from]) => from),
      ends: Float64Array.from(spans, ([, to]) => to),
      covered: Float64Array.from(spans, ([from, to]) => to - from),
    }));
    const left = rows.size > 64 ? `; the first 64 ranks of ${rows.size}` : "";
    const title = charts.size > 1 ? `Ranks of collective workload ${number}` : "Ranks of collective operations";
    return new BandChart(title, `from the first transfer of a rank to its last byte, for each iteration; right: part of the visible time${left}`, made, link, "rank", "at work (s)");
  });
}

/** The part of values that are no larger, over the values. */
function distribution(name: string, values: number[]): Curve {
  const sorted = values.sort((a, b) => a - b);
  const every = Math.max(1, Math.ceil(sorted.length / MOST_POINTS));
  const places: number[] = [];
  for (let i = every - 1; i < sorted.length; i += every) places.push(i);
  if (places.at(-1) !== sorted.length - 1) places.push(sorted.length - 1);
  // Curves begin at zero.
  const xs = [sorted[0], ...places.map((place) => sorted[place])];
  return { name, xs, ys: [0, ...places.map((place) => (place + 1) / sorted.length)], step: true };
}

/** Completion times of finite flows by workload. */
export function completionChart(run: Run): CurveChart | null {
  const durations = numbers(run.about.flows["duration"]);
  const groups = run.workloads.length > 0 ? run.groups() : [{ name: "flows", members: run.flows.map((flow) => flow.number) }];
  const curves = groups.flatMap(({ name, members }) => {
    const times = members.flatMap((flow) => (durations[flow] === null || durations[flow] === undefined ? [] : [durations[flow]! / 1e12]));
    return times.length > 1 ? [distribution(name, times)] : [];
  });
  if (curves.length === 0) return null;
  return new CurveChart("Completion times", "part of the completed flows that took no longer", { label: "completion time", quantity: "time", log: true }, { label: "flows", quantity: "fraction", range: [0, 1] }, curves);
}

/** Median and 99th percentile of slowdowns by size, in bins of equally many flows. */
export function slowdownChart(run: Run): CurveChart | null {
  const [sizes, slowdowns] = [numbers(run.about.flows["size"]), numbers(run.about.flows["slowdown"])];
  const flows = sizes.flatMap((size, i) => (size === null || slowdowns[i] === null || slowdowns[i] === undefined ? [] : [[size, slowdowns[i]!] as const])).sort((a, b) => a[0] - b[0]);
  if (flows.length < 10 || flows[0][0] === flows[flows.length - 1][0]) return null;
  const bins = Math.min(20, Math.floor(flows.length / 5));
  const [xs, medians, highs]: number[][] = [[], [], []];
  let begin = 0;
  for (let bin = 1; bin <= bins; bin++) {
    let end = Math.round((flows.length * bin) / bins);
    // Flows of one size are in one bin.
    while (end < flows.length && end > 0 && flows[end][0] === flows[end - 1][0]) end++;
    if (end <= begin) continue;
    const values = flows.slice(begin, end).map(([, slowdown]) => slowdown).sort((a, b) => a - b);
    const at = (part: number) => values[Math.min(values.length - 1, Math.ceil(part * values.length) - 1)];
    xs.push(flows[end - 1][0]);
    medians.push(at(0.5));
    highs.push(at(0.99));
    begin = end;
  }
  if (xs.length < 2) return null;
  const curves = [{ name: "median", xs, ys: medians }, { name: "99th percentile", xs, ys: highs }];
  return new CurveChart("Slowdown by flow size", "against the same flow alone; bins of equally many completed flows", { label: "flow size", quantity: "size", log: true }, { label: "slowdown", quantity: "plain", log: true }, curves);
}

/** Times of requests by workload, from their start to the last byte of their last response. */
export function requestChart(run: Run): CurveChart | null {
  const table = run.about.requests ?? {};
  const durations = numbers(table["duration"]);
  const byName = new Map<string, number[]>();
  durations.forEach((duration, i) => {
    if (duration === null) return;
    const name = String(table["workload"]?.[i] ?? "");
    const times = byName.get(name) ?? [];
    byName.set(name, times);
    times.push(duration / 1e12);
  });
  const curves = [...byName].filter(([, times]) => times.length > 1).map(([name, times]) => distribution(name, times));
  if (curves.length === 0) return null;
  return new CurveChart("Times of requests", "part of the answered requests that took no longer", { label: "time of a request", quantity: "time", log: true }, { label: "requests", quantity: "fraction", range: [0, 1] }, curves);
}

/** The requests of a run, one by one. */
export function requestTable(run: Run): HTMLElement | null {
  const table = run.about.requests ?? {};
  const rows = (table["request"] ?? []).map((_, i) => i);
  if (rows.length === 0) return null;
  const cell = (name: string) => (row: number) => {
    const value = table[name]?.[row];
    return value === null || value === undefined ? null : (value as number | string);
  };
  const time = (name: string, column: string, meaning: string): Column<number> => ({
    name,
    meaning,
    number: true,
    value: (row) => (cell(column)(row) === null ? null : Number(cell(column)(row)) / 1e12),
    text: (row) => (cell(column)(row) === null ? "" : showTime(Number(cell(column)(row)))),
  });
  const columns: Column<number>[] = [
    { name: "workload", value: cell("workload") },
    { name: "request", number: true, value: cell("request") },
    { name: "client", value: cell("client") },
    { name: "servers", number: true, value: cell("servers") },
    time("start", "start", "when the client sent it"),
    time("time", "duration", "from its start to the last byte of its last response; empty if it is not answered"),
    { name: "first flow", value: (row) => run.flows[Number(cell("first_flow")(row))]?.name ?? "" },
  ];
  return dataTable("Requests", columns, rows);
}

/** Delays of frames by class. */
export function delayTable(run: Run): HTMLElement | null {
  const table = run.about.delays ?? {};
  const rows = (table["class"] ?? []).map((_, i) => i);
  if (rows.length === 0) return null;
  const number = (name: string) => (row: number) => Number(table[name]?.[row] ?? 0);
  const time = (name: string, column: string): Column<number> => ({ name, number: true, value: (row) => number(column)(row) / 1e12, text: (row) => showTime(number(column)(row)) });
  const columns: Column<number>[] = [
    { name: "class", value: (row) => run.className(number("class")(row)) },
    { name: "frames", number: true, value: number("frames"), text: (row) => show(number("frames")(row), "count") },
    time("mean", "mean"),
    time("median", "p50"),
    time("p95", "p95"),
    time("p99", "p99"),
    time("p99.9", "p999"),
    time("maximum", "max"),
  ];
  return dataTable("Delays of frames by class", columns, rows, { note: "from the generation of a frame to its consumption; percentiles are at most 1/128 too large" });
}
