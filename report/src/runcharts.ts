// The charts of a run, or the same charts of several runs over each other.
import { choice } from "./dom";
import { BandChart, type BandRow } from "./bandchart";
import { showTime } from "./format";
import type { TimeLink } from "./link";
import type { Run } from "./run";
import { weighted } from "./runtables";
import { addLevels, counts } from "./series";
import { KINDS_OF_DASHES } from "./theme";
import { TimeChart, windowChoice, type Band, type Line, type Ticks } from "./timechart";

/** More flows than this are shown as sums by workload at first. */
const FEW = 12;

/** Pauses of some ports, or of all, as stretches behind a chart. */
export function pauseBands(run: Run, ports: number[]): Band[] {
  const keys = run.keys("pauses").filter(([port]) => ports.includes(port));
  return keys.map((key) => {
    const column = (name: string) => run.column("pauses", name, ...key);
    const [starts, ends, covered] = [column("start"), column("end"), column("covered")];
    return {
      name: run.ports[key[0]].direction,
      spans: (from: number, to: number) => {
        const found: [number, number, number][] = [];
        for (let i = 0; i < starts.length; i++) if (ends[i] > from && starts[i] < to) found.push([starts[i], ends[i], covered[i]]);
        return found;
      },
    };
  });
}

function noticeTicks(run: Run): Ticks[] {
  if (!run.has("notices")) return [];
  return [{ name: "notices", times: () => run.table("notices")!.columns["time"] }];
}

type Grouping = "flows" | "workloads" | "classes";

/** What lines may stand for. */
function groupings(run: Run): [string, string][] {
  const workloads: [string, string][] = run.workloads.length > 0 ? [["workloads", "sums by workload"]] : [];
  const classes: [string, string][] = run.usedClasses.size > 1 ? [["classes", "sums by class"]] : [];
  return [["flows", "each flow"], ...workloads, ...classes];
}

interface Source {
  run: Run;
  prefix: string;
  /** Which of the runs it is. */
  looks: number;
}

/** Looks of one kind of dashes. */
const COLOURS = 8;

function sources(runs: Run[], fits: (run: Run) => boolean = () => true): Source[] {
  const all = runs.map((run, number) => ({ run, prefix: runs.length > 1 ? `${run.label}: ` : "", looks: number }));
  return all.filter(({ run }) => fits(run));
}

/**
 * Gives lines of one name the same colour in every run, and each run its dashes; with more runs than kinds of dashes, or
 * only one name, it is the other way round.
 */
function alike(lines: (Line & { looks: number })[], several: boolean): Line[] {
  if (!several) return lines;
  const places = new Map<string, number>();
  const weights = new Map<string, number>();
  for (const line of lines) weights.set(line.key!, (weights.get(line.key!) ?? 0) + line.weight);
  [...weights].sort((a, b) => b[1] - a[1]).forEach(([key], i) => places.set(key, i));
  const runs = new Set(lines.map((line) => line.looks)).size;
  const byRun = runs > KINDS_OF_DASHES || places.size === 1;
  const slot = (run: number, name: number) => (byRun ? (run % COLOURS) + name * COLOURS : (name % COLOURS) + run * COLOURS);
  return lines.map((line) => ({ ...line, slot: slot(line.looks, places.get(line.key!)!) }));
}

function flowLines(all: Source[], grouping: Grouping, make: (run: Run, members: number[]) => () => ReturnType<Line["make"]>, has: (run: Run, flow: number) => number): Line[] {
  const lines: (Line & { looks: number })[] = [];
  for (const { run, prefix, looks } of all) {
    if (grouping === "classes" || (grouping === "workloads" && run.workloads.length > 0)) {
      for (const { name, members } of grouping === "classes" ? run.byClass() : run.groups()) {
        const weight = members.reduce((sum, flow) => sum + has(run, flow), 0);
        const total = members.reduce((sum, flow) => sum + (run.flows[flow].fairShare ?? NaN), 0);
        const line: Line & { looks: number } = { name: `${prefix}${name}`, key: name, looks, weight, make: make(run, members) };
        if (!Number.isNaN(total) && all.length === 1) line.level = { name: "fair share", at: total };
        lines.push(line);
      }
    } else {
      for (const flow of run.flows) lines.push({ name: `${prefix}${flow.name}`, key: flow.name, looks, weight: has(run, flow.number), make: make(run, [flow.number]) });
    }
  }
  return alike(lines, all.some(({ prefix }) => prefix !== ""));
}

/** Throughput of flows, or of workloads. */
export function throughputChart(runs: Run[], link: TimeLink, small?: { title: string; range: [number, number] }): TimeChart | null {
  const all = sources(runs, (run) => run.has("flow_samples"));
  if (all.length === 0) return null;
  const { run } = all[0];
  const { all: windows, own } = run.windows();
  let window = own;
  let grouping: Grouping = runs.length > 1 || run.flows.length > FEW ? "workloads" : "flows";
  const lines = () => {
    const made = flowLines(all, grouping, (of, members) => () => of.throughput("flow_samples", members, window), (of, flow) => of.flows[flow].bytes);
    // A fair share means something for flows that last, not for what comes and goes.
    const lasting = run.flows.every((flow) => !flow.finite);
    if (!lasting) made.forEach((line) => delete line.level);
    return made;
  };
  const bands = runs.length === 1 && !small ? pauseBands(run, trunks(run)) : [];
  const note = () => {
    const dotted = lines().some((line) => line.level) ? "; dotted: fair share" : "";
    return (window === 0 ? `per sample of ${showTime(run.sample)}` : `mean over ${showTime(window)}`) + dotted + (small ? "" : shaded(run, bands));
  };
  const options = { title: small?.title ?? "Throughput", note: note(), y: "throughput", quantity: "rate" as const, link, lines: lines(), bands, ticks: runs.length === 1 ? noticeTicks(run) : [], most: runs.length > 1 ? Math.min(16, runs.length * 4) : 8 };
  const chart = new TimeChart(small ? { ...options, range: small.range, small: true } : options);
  if (small) return chart;
  const again = () => chart.replace(lines(), note());
  chart.addControl(windowChoice(windows, own, (chosen) => {
    window = chosen;
    again();
  }));
  if (groupings(run).length > 1) {
    chart.addControl(choice("show", groupings(run), grouping, (chosen) => {
      grouping = chosen as Grouping;
      again();
    }));
  }
  return chart;
}

/** Ports between switches; all if there are none. */
function trunks(run: Run): number[] {
  const between = run.ports.filter((port) => !run.nodes[port.node].host && !run.nodes[port.peerNode].host);
  return (between.length > 0 && between.length <= 64 ? between : run.ports).map((port) => port.number);
}

/** What the bands behind a chart are. */
function shaded(run: Run, bands: Band[]): string {
  if (bands.length === 0) return "";
  return trunks(run).length < run.ports.length ? "; shaded: pauses between switches" : "; shaded: pauses";
}

function allowanceChart(runs: Run[], link: TimeLink, column: "rate" | "window"): TimeChart | null {
  const all = sources(runs, (run) => run.table("rates")?.columns[column]?.some((value) => value >= 0) ?? false);
  if (all.length === 0) return null;
  let grouping: Grouping = runs.length > 1 || all[0].run.flows.length > FEW ? "workloads" : "flows";
  const lines = () => {
    const made = flowLines(
      all,
      grouping,
      (run, members) => () => run.level("rates", column, members.map((flow) => [flow]), null),
      (run, flow) => (run.column("rates", column, flow).some((value) => value >= 0) ? run.flows[flow].bytes + 1 : 0),
    );
    made.forEach((line) => delete line.level);
    return made;
  };
  const rate = column === "rate";
  const chart = new TimeChart({
    title: rate ? "Allowed rate of sources" : "Allowed window of sources",
    note: `sampled every ${showTime(all[0].run.sample)}`,
    y: rate ? "allowed rate" : "window",
    quantity: rate ? "rate" : "size",
    link,
    lines: lines(),
    ticks: runs.length === 1 ? noticeTicks(all[0].run) : [],
  });
  if (groupings(all[0].run).length > 1) {
    chart.addControl(choice("show", groupings(all[0].run), grouping, (chosen) => {
      grouping = chosen as Grouping;
      chart.replace(lines());
    }));
  }
  return chart;
}

function queueChart(runs: Run[], link: TimeLink, column: "output_bytes" | "input_held"): TimeChart | null {
  const lines: (Line & { looks: number })[] = [];
  let frames = false;
  for (const { run, prefix, looks } of sources(runs)) {
    const several = (run.network?.classes.length ?? 1) > 1;
    for (const key of run.keys("queues")) {
      let most = 0;
      let sum = 0;
      const values = run.column("queues", column, ...key);
      for (const value of values) {
        if (value > most) most = value;
        sum += value;
      }
      if (most === 0) continue;
      const port = run.ports[key[0]];
      const kind = run.bufferOf(port.node);
      if (column === "input_held" && kind?.frames) frames = true;
      // What came in by a port is named by the direction that brought it.
      const direction = column === "input_held" ? run.ports[port.peerPort].direction : port.direction;
      const bare = `${direction}${several ? `, ${run.className(key[1])}` : ""}`;
      lines.push({ name: `${prefix}${bare}`, key: bare, looks, weight: most + sum / (values.length || 1), make: () => run.level("queues", column, [key], 0) });
    }
  }
  if (lines.length === 0) return null;
  const out = column === "output_bytes";
  return new TimeChart({
    title: out ? "Output queues" : "Input buffers",
    note: `sampled every ${showTime(runs[0].sample)}${runs.length === 1 && out ? shaded(runs[0], pauseBands(runs[0], trunks(runs[0]))) : ""}`,
    y: out ? "queue length" : "occupancy",
    quantity: !out && frames ? "frames" : "size",
    link,
    lines: alike(lines, runs.length > 1),
    most: 6,
    bands: runs.length === 1 && out ? pauseBands(runs[0], trunks(runs[0])) : [],
  });
}

/** Runs of which the fullest output queues are drawn, one chart each: the same queues, colours and scale in all of them. */
export function queueMultiples(runs: Run[], link: TimeLink): TimeChart[] {
  const means = new Map<string, number>();
  const of = runs.map((run) => {
    const several = (run.network?.classes.length ?? 1) > 1;
    const queues = new Map<string, number[]>();
    for (const key of run.keys("queues")) {
      const port = run.ports[key[0]];
      if (run.nodes[port.node].host) continue;
      const name = `${port.direction}${several ? `, ${run.className(key[1])}` : ""}`;
      queues.set(name, key);
      const { mean } = weighted(run.column("queues", "time", ...key), run.column("queues", "output_bytes", ...key), run.end);
      means.set(name, (means.get(name) ?? 0) + mean);
    }
    return queues;
  });
  const names = [...means].filter(([, mean]) => mean > 0).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name]) => name);
  if (names.length === 0) return [];
  let most = 0;
  runs.forEach((run, i) => names.forEach((name) => {
    const key = of[i].get(name);
    if (key) most = Math.max(most, run.level("queues", "output_bytes", [key], 0).extremes(0, run.end)[1]);
  }));
  return runs.map((run, i) => {
    const shown = names.flatMap((name, slot) => {
      const key = of[i].get(name);
      return key ? [{ name, key: name, slot, weight: names.length - slot, make: () => run.level("queues", "output_bytes", [key], 0) }] : [];
    });
    return new TimeChart({ title: run.label, note: `sampled every ${showTime(run.sample)}`, y: "queue length", quantity: "size", link, lines: shown, range: [0, most * 1.06 || 1], small: true, most: 3 });
  });
}

/** How many finite flows had completed, over time. */
function completedChart(runs: Run[], link: TimeLink): TimeChart | null {
  const all = sources(runs, (run) => run.flows.some((flow) => flow.finite));
  const made: (Line & { looks: number })[] = [];
  for (const { run, prefix, looks } of all) {
    const groups = run.workloads.length > 0 ? run.groups() : [{ name: "flows", members: run.flows.map((flow) => flow.number) }];
    for (const { name, members } of groups) {
      const finite = members.map((flow) => run.flows[flow]).filter((flow) => flow.finite);
      if (finite.length === 0) continue;
      const times = Float64Array.from(finite.flatMap((flow) => flow.completed ?? [])).sort();
      const make = () => counts(times, new Float64Array(times.length).fill(1));
      made.push({ name: `${prefix}${name}`, key: name, looks, weight: finite.length, make });
    }
  }
  if (made.length === 0) return null;
  return new TimeChart({ title: "Completed flows", note: "counted when the last byte arrives", y: "flows", quantity: "count", link, lines: alike(made, runs.length > 1), most: runs.length > 1 ? Math.min(16, runs.length * 4) : 8 });
}

function utilisationChart(runs: Run[], link: TimeLink): TimeChart | null {
  const all = sources(runs, (run) => run.has("links"));
  if (all.length === 0) return null;
  const { all: windows, own } = all[0].run.windows();
  let window = own;
  const lines = () => {
    const made: (Line & { looks: number })[] = [];
    for (const { run, prefix, looks } of all) {
      for (const [port] of run.keys("links")) {
        const busy = run.column("links", "busy", port).reduce((a, b) => a + b, 0);
        // Between switches first: that is where congestion spreads.
        const inner = !run.nodes[run.ports[port].node].host;
        const { direction } = run.ports[port];
        made.push({ name: `${prefix}${direction}`, key: direction, looks, weight: busy * (inner ? 2 : 1), make: () => run.utilisation([port], window) });
      }
    }
    return alike(made, runs.length > 1);
  };
  const note = () => (window === 0 ? `per sample of ${showTime(all[0].run.sample)}` : `mean over ${showTime(window)}`);
  const chart = new TimeChart({ title: "Link utilisation", note: note(), y: "utilisation", quantity: "fraction", range: [0, 1.05], link, lines: lines(), most: 6 });
  chart.addControl(windowChoice(windows, own, (chosen) => {
    window = chosen;
    chart.replace(lines(), note());
  }));
  return chart;
}

/** How long wires stood still for want of credits: what pauses are where credits hold senders back. */
function starvedChart(runs: Run[], link: TimeLink): TimeChart | null {
  const made: (Line & { looks: number })[] = [];
  for (const { run, prefix, looks } of sources(runs, (run) => run.has("links"))) {
    for (const [port] of run.keys("links")) {
      const weight = run.column("links", "starved", port).reduce((a, b) => a + b, 0);
      const { direction } = run.ports[port];
      if (weight > 0) made.push({ name: `${prefix}${direction}`, key: direction, looks, weight, make: () => run.utilisation([port], run.windows().own, "starved") });
    }
  }
  if (made.length === 0) return null;
  const note = `fraction of the time in which frames wait for credits; mean over ${showTime(runs[0].windows().own)}`;
  return new TimeChart({ title: "Links without credits", note, y: "time without credits", quantity: "fraction", range: [0, 1.05], link, lines: alike(made, runs.length > 1), most: 6 });
}

function occupancyChart(run: Run, link: TimeLink): TimeChart | null {
  if (!run.has("occupancy")) return null;
  const byFlow = new Map<number, number[][]>();
  for (const key of run.keys("occupancy")) byFlow.set(key[2], [...(byFlow.get(key[2]) ?? []), key]);
  const lines: Line[] = [...byFlow].map(([flow, keys]) => ({
    name: run.flows[flow]?.name ?? `flow ${flow}`,
    weight: Math.max(0, ...keys.map((key) => run.column("occupancy", "bytes", ...key).reduce((a, b) => Math.max(a, b), 0))),
    make: () => addLevels(keys.map((key) => run.level("occupancy", "bytes", [key], 0))),
  }));
  return new TimeChart({ title: "Buffer occupancy by flow", note: "input buffers", y: "occupancy", quantity: "size", link, lines });
}

function noticesChart(runs: Run[], link: TimeLink): TimeChart | null {
  const all = sources(runs, (run) => run.has("notices"));
  if (all.length === 0) return null;
  const lines = flowLines(
    all,
    runs.length > 1 || all[0].run.flows.length > FEW ? "workloads" : "flows",
    (run, members) => () => run.notices(new Set(members)),
    (run, flow) => Number(run.about.flows["notices"]?.[flow] ?? 0),
  );
  lines.forEach((line) => delete line.level);
  return new TimeChart({ title: "Congestion notices", note: "counted on arrival at the source", y: "cumulative notices", quantity: "count", link, lines });
}

/** Frames that came to nothing, by the direction that brought them. */
function dropsChart(runs: Run[], link: TimeLink): TimeChart | null {
  const made: (Line & { looks: number })[] = [];
  for (const { run, prefix, looks } of sources(runs, (run) => run.has("drops"))) {
    for (const [port] of run.keys("drops")) {
      const { node, peerPort, direction } = run.ports[port];
      // A host throws its own away before they reach a link.
      const name = run.nodes[node].host ? `at ${run.nodes[node].name}` : (run.ports[peerPort]?.direction ?? direction);
      const weights = run.column("drops", "count", port);
      const make = () => counts(run.column("drops", "time", port), weights);
      made.push({ name: `${prefix}${name}`, key: name, looks, weight: weights.reduce((a, b) => a + b, 0), make });
    }
  }
  if (made.length === 0) return null;
  return new TimeChart({ title: "Dropped frames", note: "by the link on which they arrived", y: "cumulative frames", quantity: "count", link, lines: alike(made, runs.length > 1), most: 6 });
}

/** When ports had to pause: the most paused ones. */
export function pauseChart(run: Run, link: TimeLink, title = "Paused ports"): BandChart | null {
  const several = (run.network?.classes.length ?? 1) > 1;
  const rows: (BandRow & { sum: number })[] = run.keys("pauses").map((key) => {
    const covered = run.column("pauses", "covered", ...key);
    return {
      name: `${run.ports[key[0]].direction}${several ? `, ${run.className(key[1])}` : ""}`,
      starts: run.column("pauses", "start", ...key),
      ends: run.column("pauses", "end", ...key),
      covered,
      sum: covered.reduce((a, b) => a + b, 0),
    };
  });
  if (rows.length === 0) return null;
  const most = 24;
  const shown = rows.sort((a, b) => b.sum - a.sum).slice(0, most);
  const left = rows.length > most ? `; the ${most} ports of ${rows.length} that are paused longest` : "";
  return new BandChart(title, `darker: paused for more of the time${left}; right: paused part of the visible time`, shown, link);
}

/** All charts that a run, or several over each other, have something for. */
export function runCharts(runs: Run[], link: TimeLink): HTMLElement[] {
  return chartMakers(runs, link).flatMap((make) => make()?.root ?? []);
}

/** The same, each to be made when its turn comes. */
export function chartMakers(runs: Run[], link: TimeLink): (() => { root: HTMLElement } | null)[] {
  return [
    () => throughputChart(runs, link),
    () => (runs.length > 1 ? completedChart(runs, link) : null),
    () => queueChart(runs, link, "output_bytes"),
    () => queueChart(runs, link, "input_held"),
    () => utilisationChart(runs, link),
    () => starvedChart(runs, link),
    () => allowanceChart(runs, link, "rate"),
    () => allowanceChart(runs, link, "window"),
    () => noticesChart(runs, link),
    () => dropsChart(runs, link),
    () => (runs.length === 1 ? occupancyChart(runs[0], link) : null),
    () => (runs.length === 1 ? pauseChart(runs[0], link) : null),
  ];
}
