// Who is a victim of what, by hand: two classes on one trunk, flows with an end, and flows that can never complete.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../src/run";
import { Series } from "../src/series";
import { course, CongestionReader, meanLevel } from "../src/tree";

const SAMPLE = 10;
const END = 1000;

interface FlowLike {
  name: string;
  class: number;
  path: number[];
  start?: number;
  end?: number;
  share: number;
  gets: number;
}

/**
 * Hosts a and b on switch s, hosts c and d on switch t. The directions: 0 a-s, 1 s-a, 2 b-s, 3 s-b, 4 s-t, 5 t-s, 6 t-c, 7 c-t,
 * 8 t-d, 9 d-t. What is blocked, by direction and class, is so all the time; what waits is there all the time.
 */
function network(flows: FlowLike[], blocked: [number, number][], waiting: [number, number][], busy: number[], failed: number[] = []): Run {
  const cables: [number, number][] = [[0, 4], [4, 0], [1, 4], [4, 1], [4, 5], [5, 4], [5, 2], [2, 5], [5, 3], [3, 5]];
  const names = ["a", "b", "c", "d", "s", "t"];
  const ports = cables.map(([node, peerNode], number) => ({ number, name: "", node, peerNode, peerPort: number ^ 1, rate: 1, direction: `${names[node]}-${names[peerNode]}` }));
  const nodes = names.map((name, i) => ({ name, host: i < 4, layer: 0, ports: ports.filter(({ node }) => node === i).map(({ number }) => number) }));
  const every = Float64Array.from({ length: END / SAMPLE }, (_, i) => (i + 1) * SAMPLE);
  const all = (value: number) => new Float64Array(every.length).fill(value);
  const one = (...values: number[]) => Float64Array.from(values);
  const tables: Record<string, { keys: number[][]; column(name: string, place: number): Float64Array }> = {
    links: { keys: busy.map((port) => [port]), column: (name) => (name === "time" ? every : name === "interval" || name === "busy" ? all(SAMPLE) : all(0)) },
    starved: { keys: [], column: () => one() },
    queues: { keys: waiting, column: (name) => (name === "time" ? one(0) : name === "output_bytes" ? one(5000) : one(0)) },
    pauses: { keys: blocked, column: (name) => (name === "start" ? one(0) : one(END)) },
    fair_shares: { keys: flows.map((_, i) => [i]), column: (name, i) => (name === "time" ? one(flows[i].start ?? 0, flows[i].end ?? END) : one(flows[i].share, 0)) },
    flow_samples: { keys: flows.map((_, i) => [i]), column: () => one() },
  };
  return {
    sample: SAMPLE,
    end: END,
    ports,
    nodes,
    network: { classes: [{ name: "lan" }, { name: "storage" }] },
    flows: flows.map(({ start = 0, end = END, ...flow }, number) => ({ ...flow, number, start, end, finite: end < END, fairShare: flow.share })),
    series: tables,
    has: (name: string) => name in tables,
    keys: (name: string) => tables[name]?.keys ?? [],
    column: (name: string, column: string, ...key: number[]) => {
      const place = tables[name].keys.findIndex((known) => known.join(" ") === key.join(" "));
      return place < 0 ? one() : tables[name].column(column, place);
    },
    windows: () => ({ all: [SAMPLE], own: SAMPLE }),
    throughput: (_: string, [flow]: number[]) => new Series(one(0, flows[flow].end ?? END), one(flows[flow].gets, 0), true),
    bufferOf: () => null,
    failed: () => failed,
  } as unknown as Run;
}

/** The link to c is full of storage; pauses of storage go back over the trunk to both hosts. */
const storage: [number, number][] = [[4, 1], [0, 1], [2, 1]];
const culprits: FlowLike[] = [
  { name: "hot a", class: 1, path: [0, 4, 6], share: 5, gets: 5 },
  { name: "hot b", class: 1, path: [2, 4, 6], share: 5, gets: 4 },
];

const victims = (run: Run, at = 500) => new CongestionReader(run).read(at).trees.flatMap((tree) => tree.victims.map((flow) => run.flows[flow].name));

test("a victim shares the class of the tree, and has no part in it", () => {
  const flows: FlowLike[] = [
    ...culprits,
    { name: "victim", class: 1, path: [0, 4, 8], share: 20, gets: 14 },
    // Another class on the same trunk: nothing pauses it. It gets all it offers, or less for reasons of its own.
    { name: "voice", class: 0, path: [0, 4, 8], share: 1, gets: 1 },
    { name: "lossy", class: 0, path: [2, 4, 6], share: 10, gets: 2 },
    { name: "content", class: 1, path: [2, 4, 8], share: 2, gets: 2 },
  ];
  const run = network(flows, storage, [[6, 1], [6, 0]], [6]);
  const [tree, ...others] = new CongestionReader(run).read(500).trees;
  assert.deepEqual([tree.root, tree.class, tree.directions.map(({ port }) => port).sort()], [6, 1, [0, 2, 4]]);
  assert.equal(others.length, 0);
  assert.deepEqual(victims(run), ["victim"]);
});

test("a root of another class, or one that backpressure does not reach, excuses nothing", () => {
  // The victim's own receiver is a root of the lossy class; that is none of its doing.
  const victim: FlowLike = { name: "victim", class: 1, path: [0, 4, 8], share: 20, gets: 14 };
  const lossy: FlowLike = { name: "lossy", class: 0, path: [2, 4, 8], share: 10, gets: 10 };
  assert.deepEqual(victims(network([...culprits, victim, lossy], storage, [[6, 1], [8, 0]], [6, 8])), ["victim"]);
  // Where it is full of the victim's own class and holds back the trunk, the victim has a part in that.
  assert.deepEqual(victims(network([...culprits, victim], storage, [[6, 1], [8, 1]], [6, 8])), []);
});

test("only a flow that is under way suffers, and only then its time counts", async () => {
  const flows: FlowLike[] = [
    ...culprits,
    // Done, or never to be done: its last frames were lost.
    { name: "over", class: 1, path: [0, 4, 8], end: 250, share: 20, gets: 20 },
    { name: "short", class: 1, path: [2, 4, 8], start: 600, end: 800, share: 20, gets: 10 },
  ];
  const run = network(flows, storage, [[6, 1]], [6]);
  assert.deepEqual([victims(run, 300), victims(run, 700), victims(run, 900)], [[], ["short"], []]);
  const { suffered, worst } = (await course(new CongestionReader(run), run, 400))!;
  assert.equal(await course(new CongestionReader(run), run, 400, () => false), null);
  assert.deepEqual([...suffered].map((part) => Math.round(part * 10) / 10), [0, 0, 0, 1]);
  assert.deepEqual(worst?.trees[0].victims, [3]);
});

test("a failed link that frames wait for is a root", () => {
  const run = network(culprits, storage, [[6, 1]], [], [6, 7]);
  const { trees, failed } = new CongestionReader(run).read(500);
  assert.deepEqual([trees.map(({ root }) => root), failed], [[6], [6, 7]]);
});

test("a share counts over the window, and for no longer than the flow is under way", () => {
  assert.equal(meanLevel([100, 200], [8, 0], 50, 150), 4);
  assert.equal(meanLevel([100, 200], [8, 0], 150, 250), 4);
  assert.equal(meanLevel([100, 200], [8, 0], 120, 180), 8);
  assert.equal(meanLevel([], [], 0, 10), 0);
});

test("where causes were measured, trees are theirs", () => {
  const run = network(culprits, storage, [[6, 1]], [6]);
  // The trunk is blocked by the link to c, and a little by that to d; a waits for the trunk, and b for a resume.
  const rows: [number[], number][] = [[[4, 1, 0, 6], 9], [[4, 1, 0, 8], 0.5], [[0, 1, 0, 6], 10], [[2, 1, 1, 2], 10]];
  const victim = { number: 1, victim: true, causes: [{ cause: "blocking", root: "output", port: 6, on_path: false }] };
  const causes: [number[], number][] = [[[1, 0, 0, 6], 8], [[0, 0, 0, 6], 8]];
  const tables: Record<string, [number[], number][]> = { trees: rows, cause_samples: causes };
  const measured = Object.assign(run, {
    why: { flows: [victim] },
    series: { ...run.series, trees: {}, cause_samples: {} },
    texts: (_: string, key: string) => (key === "root" ? ["output", "resume"] : ["blocking"]),
    keys: (name: string) => (tables[name] ?? []).map(([key]) => key),
    column: (name: string, column: string, ...key: number[]) => {
      const found = tables[name]?.find(([known]) => known.join(" ") === key.join(" "));
      return Float64Array.from(!found ? [] : column === "time" ? [500] : column === "interval" ? [10] : [found[1]]);
    },
  }) as unknown as Run;
  const seen = new CongestionReader(measured).read(500);
  assert.ok(seen.exact);
  assert.deepEqual(seen.trees, [{ root: 6, class: 1, receiver: false, directions: [{ port: 4, depth: 1 }, { port: 0, depth: 2 }], victims: [1] }]);
  assert.deepEqual([seen.stray, seen.circle], [[{ port: 2, class: 1 }], []]);
  assert.deepEqual(new CongestionReader(measured).read(400).trees, []);
});
