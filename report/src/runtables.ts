// The tables of a run: flows, links, queues, and the plan with the source of every value.
import { dataTable, type Column } from "./datatable";
import { el } from "./dom";
import { digits, show } from "./format";
import type { Flow, Run } from "./run";
import type { PlanEntry } from "./types";
import type { Course } from "./tree";

const percent = (value: number | null) => (value === null ? "" : `${digits(value * 100, 3)} %`);

export function flowTable(run: Run, course: Course | null): HTMLElement {
  const raw = (name: string) => (flow: Flow) => {
    const cell = run.about.flows[name]?.[flow.number];
    return cell === null || cell === undefined ? null : Number(cell);
  };
  const time = (name: string, column: string, meaning: string): Column<Flow> => ({
    name,
    meaning,
    number: true,
    value: (flow) => {
      const picos = raw(column)(flow);
      return picos === null ? null : picos / 1e12;
    },
    text: (flow) => show((raw(column)(flow) ?? NaN) / 1e12, "time"),
  });
  const distance = (flow: Flow) => (flow.fairShare && flow.throughput !== null ? flow.throughput / flow.fairShare - 1 : null);
  const completion = time("completion", "duration", "from its start to the arrival of the last byte; never, if a frame was lost that is not sent again");
  const columns: Column<Flow>[] = [
    { name: "flow", value: (flow) => flow.name },
    { name: "workload", value: (flow) => run.workloads[flow.workload] ?? "" },
    { name: "from", value: (flow) => flow.source },
    { name: "to", value: (flow) => flow.destination },
    time("start", "start", "instant at which it may begin"),
    { name: "throughput", number: true, meaning: "from the later of its start and the end of the warm-up to the earliest of its completion, its stop and the end of the run", value: (flow) => flow.throughput, text: (flow) => show(flow.throughput, "rate") },
    { name: "fair share", number: true, meaning: "max-min fair share among the flows under way with it, over the same time", value: (flow) => flow.fairShare, text: (flow) => show(flow.fairShare, "rate") },
    {
      name: "from fair",
      number: true,
      meaning: "throughput over fair share, less one",
      value: distance,
      text: (flow) => percent(distance(flow)),
      kind: (flow) => ((distance(flow) ?? 0) < -0.2 ? "less" : (distance(flow) ?? 0) > 0.2 ? "moreof" : ""),
    },
    { name: "limited by", value: (flow) => flow.bottleneck ?? "" },
    { name: "victim", number: true, meaning: "part of its life in which a lane of its path was held back in its class, it got less than its fair share, and it had no part in the congestion", value: (flow) => course?.suffered[flow.number] ?? null, text: (flow) => percent(course?.suffered[flow.number] ?? null) },
    { ...completion, text: (flow) => (flow.never ? "never" : completion.text!(flow)) },
    { name: "lost", number: true, meaning: "frames that were dropped or lost and are not sent again", value: raw("lost_frames"), text: (flow) => show(raw("lost_frames")(flow), "count") },
    { name: "delivered", number: true, value: (flow) => flow.bytes, text: (flow) => show(flow.bytes, "size") },
    { name: "marked", number: true, meaning: "frames that arrived with a congestion mark", value: raw("marked_frames"), text: (flow) => show(raw("marked_frames")(flow), "count") },
    { name: "notices", number: true, value: raw("notices"), text: (flow) => show(raw("notices")(flow), "count") },
    time("mean delay", "mean_delay", "from a frame's making to its consumption"),
    time("longest delay", "max_delay", "from a frame's making to its consumption"),
  ];
  const any = (column: Column<Flow>) => run.flows.some((flow) => ![null, 0, ""].includes(column.value(flow) as never) || (column.name === completion.name && flow.never));
  return dataTable("Flows", columns.filter((column, place) => place === 0 || any(column)), run.flows);
}

/** A level over time: its mean and how long it was below what. */
function weighted(times: Float64Array, values: Float64Array, end: number): { mean: number; quantile(part: number): number; most: number } {
  const pieces: [number, number][] = [];
  if (times.length > 0 && times[0] > 0) pieces.push([0, times[0]]);
  let sum = 0;
  let most = 0;
  for (let i = 0; i < times.length; i++) {
    const length = (i + 1 < times.length ? times[i + 1] : end) - times[i];
    pieces.push([values[i], Math.max(0, length)]);
    sum += values[i] * Math.max(0, length);
    most = Math.max(most, values[i]);
  }
  pieces.sort((a, b) => a[0] - b[0]);
  const total = pieces.reduce((all, [, length]) => all + length, 0);
  return {
    mean: total > 0 ? sum / total : 0,
    most,
    quantile: (part) => {
      let left = part * total;
      for (const [value, length] of pieces) {
        left -= length;
        if (left <= 0) return value;
      }
      return most;
    },
  };
}

interface QueueRow {
  name: string;
  class: string;
  what: string;
  frames: boolean;
  mean: number;
  median: number;
  p95: number;
  p99: number;
  most: number;
  room: number | null;
}

export function queueTable(run: Run): HTMLElement {
  const rows: QueueRow[] = [];
  for (const key of run.keys("queues")) {
    const times = run.column("queues", "time", ...key);
    const port = run.ports[key[0]];
    for (const column of ["output_bytes", "input_held"] as const) {
      const level = weighted(times, run.column("queues", column, ...key), run.end);
      if (level.most === 0) continue;
      const kind = run.bufferOf(port.node);
      const input = column === "input_held";
      rows.push({
        name: input ? run.ports[port.peerPort].lane : port.lane,
        class: run.className(key[1]),
        what: input ? "held at the head" : "waiting at the foot",
        frames: input && (kind?.frames ?? false),
        mean: level.mean,
        median: level.quantile(0.5),
        p95: level.quantile(0.95),
        p99: level.quantile(0.99),
        most: level.most,
        room: input ? (kind?.capacity[key[1]] ?? null) : null,
      });
    }
  }
  const number = (name: string, pick: (row: QueueRow) => number | null, meaning: string): Column<QueueRow> => ({
    name,
    meaning,
    number: true,
    value: pick,
    text: (row) => show(pick(row), row.frames ? "frames" : "size"),
  });
  const columns: Column<QueueRow>[] = [
    { name: "lane", value: (row) => row.name },
    { name: "class", value: (row) => row.class },
    { name: "what", meaning: "waiting to leave by the lane, or held of what came by it", value: (row) => row.what },
    number("mean", (row) => row.mean, "over time"),
    number("median", (row) => row.median, "half of the time it was no more"),
    number("95 %", (row) => row.p95, "95 % of the time it was no more"),
    number("99 %", (row) => row.p99, "99 % of the time it was no more"),
    number("most", (row) => row.most, "of all samples"),
    number("room", (row) => row.room, "what the buffer has for the class"),
  ];
  return dataTable("Queues and buffers", columns, rows, { sort: 7, descending: true, note: "by time, from the samples" });
}

interface LinkRow {
  lane: string;
  rate: number;
  busy: number;
  peak: number;
  bytes: number;
  paused: number;
  starved: number;
  waitMean: number | null;
  waitMedian: number | null;
  wait99: number | null;
  waitMost: number | null;
}

/** Quantiles of waits, counted by powers of two: the upper end of the bucket, so never too little. */
function waitQuantiles(run: Run): Map<number, (part: number) => number> {
  const { port, below, frames } = run.about.wait_buckets;
  const buckets = new Map<number, [number, number][]>();
  (port ?? []).forEach((number, i) => {
    const list = buckets.get(Number(number)) ?? [];
    list.push([Number(below[i]), Number(frames[i])]);
    buckets.set(Number(number), list);
  });
  const made = new Map<number, (part: number) => number>();
  // Below one picosecond is not at all.
  const ends = (upper: number) => (upper <= 1 ? 0 : upper / 1e12);
  for (const [number, list] of buckets) {
    list.sort((a, b) => a[0] - b[0]);
    const total = list.reduce((sum, [, count]) => sum + count, 0);
    made.set(number, (part) => {
      let left = part * total;
      for (const [upper, count] of list) {
        left -= count;
        if (left <= 0) return ends(upper);
      }
      return ends(list[list.length - 1][0]);
    });
  }
  return made;
}

export function linkTable(run: Run): HTMLElement {
  const { port: waitPorts, mean, max, frames } = run.about.waits;
  const waits = new Map<number, { sum: number; frames: number; most: number }>();
  (waitPorts ?? []).forEach((number, i) => {
    const known = waits.get(Number(number)) ?? { sum: 0, frames: 0, most: 0 };
    const count = Number(frames[i]);
    known.sum += Number(mean[i]) * count;
    known.frames += count;
    known.most = Math.max(known.most, Number(max[i]));
    waits.set(Number(number), known);
  });
  const quantiles = waitQuantiles(run);
  const paused = new Map<number, number>();
  for (const key of run.keys("pauses")) {
    const covered = run.column("pauses", "covered", ...key).reduce((a, b) => a + b, 0);
    paused.set(key[0], Math.max(paused.get(key[0]) ?? 0, covered));
  }
  const rows: LinkRow[] = run.ports.map((port) => {
    const busy = run.column("links", "busy", port.number);
    const intervals = run.column("links", "interval", port.number);
    let [sum, peak] = [0, 0];
    for (let i = 0; i < busy.length; i++) {
      sum += busy[i];
      peak = Math.max(peak, busy[i] / (intervals[i] || 1));
    }
    const wait = waits.get(port.number);
    const quantile = quantiles.get(port.number);
    return {
      lane: port.lane,
      rate: port.rate,
      busy: sum / run.end,
      peak,
      bytes: run.column("links", "bytes", port.number).reduce((a, b) => a + b, 0),
      paused: (paused.get(port.number) ?? 0) / run.end,
      starved: run.column("links", "starved", port.number).reduce((a, b) => a + b, 0) / run.end,
      waitMean: wait && wait.frames > 0 ? wait.sum / wait.frames / 1e12 : null,
      waitMedian: quantile?.(0.5) ?? null,
      wait99: quantile?.(0.99) ?? null,
      waitMost: wait ? wait.most / 1e12 : null,
    };
  });
  const part = (name: string, pick: (row: LinkRow) => number, meaning: string): Column<LinkRow> => ({ name, meaning, number: true, value: pick, text: (row) => percent(pick(row)) });
  const time = (name: string, pick: (row: LinkRow) => number | null, meaning: string): Column<LinkRow> => ({ name, meaning, number: true, value: pick, text: (row) => show(pick(row), "time", 3) });
  const columns: Column<LinkRow>[] = [
    { name: "lane", value: (row) => row.lane },
    { name: "rate", number: true, value: (row) => row.rate, text: (row) => show(row.rate, "rate") },
    part("utilisation", (row) => row.busy, "busy time over the run"),
    part("busiest sample", (row) => row.peak, "busy time over the interval of the busiest sample"),
    { name: "sent", number: true, value: (row) => row.bytes, text: (row) => show(row.bytes, "size") },
    ...(rows.some((row) => row.paused > 0) || !rows.some((row) => row.starved > 0)
      ? [part("paused", (row) => row.paused, "part of the run in which the sender obeyed a pause; the class that was paused longest")]
      : []),
    ...(rows.some((row) => row.starved > 0) ? [part("without credits", (row) => row.starved, "part of the run in which the wire stood still and frames waited that lacked credits")] : []),
    time("mean wait", (row) => row.waitMean, "from joining the queue to the start on the wire"),
    time("median wait", (row) => row.waitMedian, "upper end of the power of two it falls into"),
    time("99 % wait", (row) => row.wait99, "upper end of the power of two it falls into"),
    time("longest wait", (row) => row.waitMost, "of all frames"),
  ];
  return dataTable("Links", columns, rows, { sort: 2, descending: true, note: "each direction of a cable" });
}

export function planTable(run: Run): HTMLElement {
  const entries = run.about.manifest.plan?.entries ?? [];
  const isDefault = (entry: PlanEntry) => entry.source.startsWith("default");
  return dataTable(
    "Plan",
    [
      { name: "key", value: (entry: PlanEntry) => entry.key },
      { name: "value", value: (entry) => entry.value },
      { name: "source", value: (entry) => entry.source, kind: (entry) => (isDefault(entry) ? "wide default" : "wide") },
    ],
    entries,
    { note: "every value the run had, and where it came from", cards: true },
  );
}

export function totalsTable(run: Run): HTMLElement {
  const rows = Object.entries(run.about.manifest.totals).filter(([, value]) => value > 0);
  return dataTable(
    "Totals",
    [
      { name: "what", value: ([name]: [string, number]) => name.replaceAll("_", " ") },
      { name: "how many", number: true, value: ([, value]) => value, text: ([name, value]) => (name.endsWith("bytes") ? show(value, "size") : show(value, "count")) },
    ],
    rows,
  );
}

/** What the report lacks of the recording: rows that were joined, tables without room. */
export function joinedNote(runs: Run[]): HTMLElement | null {
  const tables = new Map<string, { rows: number; recorded: number; bins: number[] }>();
  for (const run of runs) {
    for (const [name, { rows, recorded, bin_ps }] of Object.entries(run.series)) {
      const known = tables.get(name) ?? { rows: 0, recorded: 0, bins: [] };
      tables.set(name, { rows: known.rows + rows, recorded: known.recorded + recorded, bins: bin_ps > 0 ? [...known.bins, bin_ps] : known.bins });
    }
  }
  const joined = [...tables].filter(([, { bins }]) => bins.length > 0);
  const span = (bins: number[]) => [...new Set([Math.min(...bins), Math.max(...bins)])].map((bin) => show(bin / 1e12, "time", 3)).join(" to ");
  const of = ({ bins }: { bins: number[] }) => (runs.length > 1 ? ` in ${bins.length} of ${runs.length} runs` : "");
  const words = joined.map(([name, about]) => `${name.replaceAll("_", " ")} joined over ${span(about.bins)}${of(about)}`);
  const missing = [...new Set(runs.flatMap((run) => run.about.left_out))];
  const sentences = [
    ...(words.length > 0 ? [`To keep the report small, rows were joined over time, with their sums, firsts, lasts and extremes: ${words.join("; ")}.`] : []),
    ...(missing.length > 0 ? [`There was no room at all for ${missing.map((name) => name.replaceAll("_", " ")).join(", ")}.`] : []),
  ];
  if (sentences.length === 0) return null;
  return el("p", { class: "note joined" }, `${sentences.join(" ")} The Parquet files have everything; `, el("code", {}, "tailback report --size"), " makes room for more of it.");
}

/** Runs of which only what the figure draws is in the report, and how to see the others. */
export function missingNote(runs: { variant: string; place?: string }[]): HTMLElement | null {
  if (runs.length === 0) return null;
  const names = runs.map(({ variant }) => variant).filter((name) => name !== "");
  const which = names.length === 0 ? "the run" : names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
  return el("p", { class: "note missing" }, `Of ${which} the report has what is drawn above; the network and all series of one are made, where these results lie, by `, el("code", {}, `tailback report ${runs[0].place ?? ""}`), ".");
}
