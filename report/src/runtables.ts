// The tables of a run: flows, links, queues, and the plan with the source of every value.
import { dataTable, type Column } from "./datatable";
import { el } from "./dom";
import { digits, show } from "./format";
import type { Flow, Run } from "./run";
import type { PlanEntry } from "./types";
import type { Course } from "./tree";
import { waitQuantile } from "./waits";

const percent = (value: number | null) => (value === null ? "" : `${digits(value * 100, 3)} %`);

/** With `pick`, clicking a flow shows the causes of its time. */
export function flowTable(run: Run, course: Course | null, pick?: (flow: number) => void): HTMLElement {
  const answers = new Map((run.why?.flows ?? []).map((flow) => [flow.number, flow]));
  const victim = (flow: Flow) => {
    if (!run.why) return course?.suffered[flow.number] ?? null;
    const answer = answers.get(flow.number);
    return answer?.victim ? answer.victim_share_of_loss : null;
  };
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
  const completion = time("completion", "duration", "from its start to the arrival of the last byte; 'never' if a lost frame is not retransmitted");
  const retransmits = (run.about.manifest.totals["retransmitted_frames"] ?? 0) > 0;
  const count = (name: string, column: string, meaning: string): Column<Flow> => ({ name, meaning, number: true, value: raw(column), text: (flow) => show(raw(column)(flow), "count") });
  const columns: Column<Flow>[] = [
    { name: "flow", value: (flow) => flow.name, ...(pick ? { link: () => "why", act: (flow: Flow) => pick(flow.number) } : {}) },
    { name: "workload", value: (flow) => run.workloads[flow.workload] ?? "" },
    { name: "from", value: (flow) => flow.source },
    { name: "to", value: (flow) => flow.destination },
    time("start", "start", "time at which it may start"),
    { name: "throughput", number: true, meaning: "from the later of its start and the end of the warm-up to the earliest of its completion, its stop and the end of the run", value: (flow) => flow.throughput, text: (flow) => show(flow.throughput, "rate") },
    ...(retransmits ? [{ name: "goodput", number: true, meaning: "the same without duplicates and frames that the destination discarded", value: raw("goodput"), text: (flow: Flow) => show(raw("goodput")(flow), "rate") }] : []),
    { name: "fair share", number: true, meaning: "max-min fair share among the flows active at the same time, over the same period", value: (flow) => flow.fairShare, text: (flow) => show(flow.fairShare, "rate") },
    {
      name: "deviation",
      number: true,
      meaning: "throughput divided by fair share, minus one",
      value: distance,
      text: (flow) => percent(distance(flow)),
      kind: (flow) => ((distance(flow) ?? 0) < -0.2 ? "less" : (distance(flow) ?? 0) > 0.2 ? "moreof" : ""),
    },
    { name: "bottleneck", value: (flow) => flow.bottleneck ?? "" },
    {
      name: "victim",
      number: true,
      meaning: run.why ? "part of its loss to roots that it does not use, of a victim" : "estimated from samples: part of its lifetime in which a link of its path was blocked in its class, its throughput was below its fair share, and it did not contribute to the congestion",
      value: victim,
      text: (flow) => percent(victim(flow)),
    },
    { ...completion, text: (flow) => (flow.never ? "never" : completion.text!(flow)) },
    { name: "lost", number: true, meaning: "frames that were dropped or lost and are not retransmitted", value: raw("lost_frames"), text: (flow) => show(raw("lost_frames")(flow), "count") },
    count("retransmitted", "retransmitted_frames", "frames that its source sent again, each time"),
    count("timeouts", "timeouts", "retransmission timers that expired"),
    count("NAKs", "naks", "negative acknowledgements that its destination sent"),
    count("duplicates", "duplicate_frames", "frames that had arrived before and were discarded"),
    count("rejected", "rejected_frames", "frames that its destination discarded because an earlier one was missing"),
    count("out of order", "out_of_order_frames", "frames that arrived out of order, kept or rejected"),
    { name: "delivered", number: true, value: (flow) => flow.bytes, text: (flow) => show(flow.bytes, "size") },
    { name: "marked", number: true, meaning: "frames that arrived with a congestion mark", value: raw("marked_frames"), text: (flow) => show(raw("marked_frames")(flow), "count") },
    { name: "notices", number: true, value: raw("notices"), text: (flow) => show(raw("notices")(flow), "count") },
    time("mean delay", "mean_delay", "from the creation of a frame to its consumption"),
    time("maximum delay", "max_delay", "from the creation of a frame to its consumption"),
  ];
  const any = (column: Column<Flow>) => run.flows.some((flow) => ![null, 0, ""].includes(column.value(flow) as never) || (column.name === completion.name && flow.never));
  return dataTable("Flows", columns.filter((column, place) => place === 0 || any(column)), run.flows);
}

/** A level over time: its mean and how long it was below what. */
export function weighted(times: Float64Array, values: Float64Array, end: number): { mean: number; quantile(part: number): number; most: number } {
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
        name: input ? run.ports[port.peerPort].direction : port.direction,
        class: run.className(key[1]),
        what: input ? "input buffer" : "output queue",
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
    { name: "link", value: (row) => row.name },
    { name: "class", value: (row) => row.class },
    { name: "kind", meaning: "output queue at the sending end of the link, or input buffer at its receiving end", value: (row) => row.what },
    number("mean", (row) => row.mean, "over time"),
    number("median", (row) => row.median, "not exceeded half of the time"),
    number("95 %", (row) => row.p95, "not exceeded 95 % of the time"),
    number("99 %", (row) => row.p99, "not exceeded 99 % of the time"),
    number("maximum", (row) => row.most, "of all samples"),
    number("capacity", (row) => row.room, "capacity of the buffer for the class"),
  ];
  return dataTable("Queues and buffers", columns, rows, { sort: 7, descending: true, note: "weighted by time, from samples" });
}

interface LinkRow {
  direction: string;
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

/** Waits of every port, counted by powers of two. */
function waitBuckets(run: Run): Map<number, [number, number][]> {
  const { port, below, frames } = run.about.wait_buckets;
  const buckets = new Map<number, [number, number][]>();
  (port ?? []).forEach((number, i) => {
    const list = buckets.get(Number(number)) ?? [];
    list.push([Number(below[i]), Number(frames[i])]);
    buckets.set(Number(number), list);
  });
  return buckets;
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
  const buckets = waitBuckets(run);
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
    const quantile = (part: number) => waitQuantile(buckets.get(port.number) ?? [], wait?.most ?? 0, part);
    return {
      direction: port.direction,
      rate: port.rate,
      busy: sum / run.end,
      peak,
      bytes: run.column("links", "bytes", port.number).reduce((a, b) => a + b, 0),
      paused: (paused.get(port.number) ?? 0) / run.end,
      starved: run.column("links", "starved", port.number).reduce((a, b) => a + b, 0) / run.end,
      waitMean: wait && wait.frames > 0 ? wait.sum / wait.frames / 1e12 : null,
      waitMedian: quantile(0.5),
      wait99: quantile(0.99),
      waitMost: wait ? wait.most / 1e12 : null,
    };
  });
  const part = (name: string, pick: (row: LinkRow) => number, meaning: string): Column<LinkRow> => ({ name, meaning, number: true, value: pick, text: (row) => percent(pick(row)) });
  const time = (name: string, pick: (row: LinkRow) => number | null, meaning: string): Column<LinkRow> => ({ name, meaning, number: true, value: pick, text: (row) => show(pick(row), "time", 3) });
  const columns: Column<LinkRow>[] = [
    { name: "link", value: (row) => row.direction },
    { name: "rate", number: true, value: (row) => row.rate, text: (row) => show(row.rate, "rate") },
    part("utilisation", (row) => row.busy, "busy time divided by the time of the run"),
    part("peak utilisation", (row) => row.peak, "utilisation in the busiest sample"),
    { name: "sent", number: true, value: (row) => row.bytes, text: (row) => show(row.bytes, "size") },
    ...(rows.some((row) => row.paused > 0) || !rows.some((row) => row.starved > 0)
      ? [part("paused", (row) => row.paused, "part of the run in which the sender was paused; of the class that was paused longest")]
      : []),
    ...(rows.some((row) => row.starved > 0) ? [part("without credits", (row) => row.starved, "part of the run in which the link was idle while frames waited for credits")] : []),
    time("mean wait", (row) => row.waitMean, "from the arrival in the queue to the start of transmission"),
    time("median wait", (row) => row.waitMedian, "upper end of its power-of-two bucket, at most the maximum wait"),
    time("99 % wait", (row) => row.wait99, "upper end of its power-of-two bucket, at most the maximum wait"),
    time("maximum wait", (row) => row.waitMost, "of all frames"),
  ];
  return dataTable("Links", columns, rows, { sort: 2, descending: true, note: "one row for each direction of a link" });
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
    { note: "every value of the run and its source", cards: true },
  );
}

export function totalsTable(run: Run): HTMLElement {
  const rows = Object.entries(run.about.manifest.totals).filter(([, value]) => value > 0);
  return dataTable(
    "Totals",
    [
      { name: "counter", value: ([name]: [string, number]) => name.replaceAll("_", " ") },
      { name: "value", number: true, value: ([, value]) => value, text: ([name, value]) => (name.endsWith("bytes") ? show(value, "size") : show(value, "count")) },
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
  const words = joined.map(([name, about]) => `${name.replaceAll("_", " ")} merged over ${span(about.bins)}${of(about)}`);
  const missing = [...new Set(runs.flatMap((run) => run.about.left_out))];
  const sentences = [
    ...(words.length > 0 ? [`To keep the report small, rows are merged over time; sums, first and last values and extremes are kept: ${words.join("; ")}.`] : []),
    ...(missing.length > 0 ? [`Omitted, because they do not fit: ${missing.map((name) => name.replaceAll("_", " ")).join(", ")}.`] : []),
  ];
  if (sentences.length === 0) return null;
  return el("p", { class: "note joined" }, `${sentences.join(" ")} The Parquet files are complete; `, el("code", {}, "tailback report --size"), " sets a larger size.");
}

/** Runs of which only what the figure draws is in the report, and how to see the others. */
export function missingNote(runs: { variant: string; place?: string }[]): HTMLElement | null {
  if (runs.length === 0) return null;
  const names = runs.map(({ variant }) => variant).filter((name) => name !== "");
  const which = names.length === 0 ? "the run" : names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
  return el("p", { class: "note missing" }, `For ${which} the report contains only the series drawn above. To see the network and all series of a run, run this command in the folder of the results: `, el("code", {}, `tailback report ${runs[0].place ?? ""}`), ".");
}
