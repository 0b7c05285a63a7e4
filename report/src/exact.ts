// Congestion trees from exact causes: the program has followed every blocked link to its roots at every sampling instant.
import type { Run } from "./run";
import type { Blocked, Tree } from "./tree";

/** Branches of less than this part of what blocks a link are not drawn. */
const LITTLE = 0.1;

interface Row {
  port: number;
  class: number;
  kind: string;
  root: number;
  times: Float64Array;
  intervals: Float64Array;
  blocked: Float64Array;
}

/** The row whose interval contains an instant; -1 if there is none. */
export function rowAt(times: Float64Array, intervals: Float64Array, at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] >= at) high = middle;
    else low = middle + 1;
  }
  return low < times.length && times[low] - intervals[low] < at ? low : -1;
}

export class ExactTrees {
  private readonly rows: Row[];
  /** By root: victims of it, with the part of their time that they lose to it. */
  private readonly victims = new Map<string, { flow: number; times: Float64Array; intervals: Float64Array; spans: Float64Array }[]>();

  constructor(private readonly run: Run) {
    const kinds = run.texts("trees", "root");
    this.rows = run.keys("trees").map((key) => {
      const column = (name: string) => run.column("trees", name, ...key);
      const [port, of, kind, root] = key;
      return { port, class: of, kind: kinds[kind] ?? "", root, times: column("time"), intervals: column("interval"), blocked: column("blocked") };
    });
    const causes = run.texts("cause_samples", "cause");
    const roots = run.texts("cause_samples", "root");
    const foreign = new Set<string>();
    for (const flow of run.why?.flows ?? []) {
      if (!flow.victim) continue;
      for (const cause of flow.causes) if (cause.on_path === false && cause.root !== null) foreign.add(`${flow.number} ${cause.cause} ${cause.root} ${cause.port}`);
    }
    for (const key of run.keys("cause_samples")) {
      const [flow, cause, root, port] = key;
      if (!foreign.has(`${flow} ${causes[cause]} ${roots[root]} ${port}`)) continue;
      const column = (name: string) => run.column("cause_samples", name, ...key);
      const of = `${roots[root]} ${port}`;
      this.victims.set(of, [...(this.victims.get(of) ?? []), { flow, times: column("time"), intervals: column("interval"), spans: column("span") }]);
    }
  }

  /** The trees at an instant; blocked links with nothing in the way of their frames; and a cycle, if there is one. */
  read(at: number): { trees: Tree[]; stray: Blocked[]; circle: Blocked[] } {
    const trees = new Map<string, Tree>();
    const stray: Blocked[] = [];
    const circle: Blocked[] = [];
    for (const { port, class: of, kind, root, times, intervals, blocked } of this.rows) {
      const row = rowAt(times, intervals, at);
      if (row < 0 || blocked[row] < LITTLE * intervals[row]) continue;
      if (kind === "cycle") circle.push({ port, class: of });
      else if (kind === "credits" || kind === "resume") stray.push({ port, class: of });
      else {
        const name = `${kind} ${root} ${of}`;
        const tree = trees.get(name) ?? { root, class: of, receiver: kind === "receiver", directions: [], victims: this.victimsOf(`${kind} ${root}`, of, at) };
        trees.set(name, tree);
        if (port !== root) tree.directions.push({ port, depth: 0 });
      }
    }
    const found = [...trees.values()];
    for (const tree of found) this.measure(tree);
    found.sort((a, b) => b.directions.length - a.directions.length || a.root - b.root);
    return { trees: found, stray, circle };
  }

  private victimsOf(root: string, of: number, at: number): number[] {
    const hurt = (this.victims.get(root) ?? []).filter(({ flow, times, intervals, spans }) => {
      const row = rowAt(times, intervals, at);
      return this.run.flows[flow].class === of && row >= 0 && spans[row] > LITTLE * intervals[row];
    });
    return [...new Set(hurt.map(({ flow }) => flow))].sort((a, b) => a - b);
  }

  /** How many links each one is away from its root. */
  private measure(tree: Tree): void {
    const { ports } = this.run;
    let nodes = new Set([ports[tree.root].node]);
    let left = tree.directions;
    for (let depth = 1; left.length > 0; depth++) {
      const reached = left.filter(({ port }) => nodes.has(ports[port].peerNode));
      // Those that do not lead there are as far as it goes.
      for (const direction of reached.length > 0 ? reached : left) direction.depth = depth;
      if (reached.length === 0) break;
      nodes = new Set(reached.map(({ port }) => ports[port].node));
      left = left.filter(({ depth }) => depth === 0);
    }
    tree.directions.sort((a, b) => a.depth - b.depth || a.port - b.port);
  }
}
