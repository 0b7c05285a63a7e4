// Congestion trees: which lanes are held back, by which root, and which flows suffer without using it.
//
// A lane is one direction of a cable, named by the port that sends. It is held back when its sender obeys a pause, or
// stands still with frames waiting and no credits for them. A root is a lane with frames waiting that sends as fast as it can, or one whose receiving
// host holds it back. From there upstream: a held lane belongs to the tree if a flow crosses it and then a lane of the
// tree. A flow that crosses the tree but no root is a victim, unless it gets its fair share all the same.
import type { Run } from "./run";
import type { Series } from "./series";

/** Parts of the interval before an instant. */
export interface LaneState {
  busy: Float32Array;
  paused: Float32Array;
  /** Frames waited, and lacked credits. */
  starved: Float32Array;
  /** Paused or starved, of a few intervals: senders are stopped and started in turns. */
  lately: Float32Array;
  /** Bytes waiting to leave by the port. */
  waiting: Float64Array;
  /** Held of what came in by the port: bytes or frames. */
  held: Float64Array;
  /** The same as a part of the room there is. */
  fill: Float32Array;
}

export interface Tree {
  root: number;
  /** Whether a host holds it back, rather than the lane being full. */
  receiver: boolean;
  lanes: { port: number; depth: number }[];
  victims: number[];
}

export interface Congestion {
  at: number;
  state: LaneState;
  trees: Tree[];
  /** Lanes held back that no root explains: they wait in a circle, or for a root between two samples. */
  stray: number[];
  /** Lanes of them each of which waits for the next, and the last for the first. */
  circle: number[];
}

/** More of the interval than this is as good as all of it. */
const FULL = 0.85;
const HELD = 0.05;
/** Intervals over which a lane that is stopped in turns counts as held back. */
const LATELY = 4;

interface Cursor {
  times: Float64Array;
  place: number;
}

export class CongestionReader {
  private readonly feeds = new Map<number, Map<number, number[]>>();
  private readonly crossing = new Map<number, number[]>();
  private readonly capacity: Float64Array;
  private readonly pathsKnown: boolean;
  private readonly queueKeys: number[][];
  private readonly linkCursors: (Cursor & { busy: Float64Array; intervals: Float64Array; starved: Float64Array })[] = [];
  private readonly linkPorts: number[];
  private readonly queueCursors: (Cursor & { out: Float64Array; held: Float64Array })[] = [];
  private readonly pauseCursors: (Cursor & { starts: Float64Array; covered: Float64Array })[] = [];
  private readonly pauseKeys: number[][];

  constructor(private readonly run: Run) {
    const { ports } = run;
    this.pathsKnown = run.flows.length > 0 && run.flows.every((flow) => flow.path !== null);
    for (const flow of run.flows) {
      const path = flow.path ?? [];
      path.forEach((port, i) => {
        const crossing = this.crossing.get(port);
        if (crossing) crossing.push(flow.number);
        else this.crossing.set(port, [flow.number]);
        if (i + 1 === path.length) return;
        const next = this.feeds.get(port) ?? new Map<number, number[]>();
        this.feeds.set(port, next);
        const flows = next.get(path[i + 1]);
        if (flows) flows.push(flow.number);
        else next.set(path[i + 1], [flow.number]);
      });
    }
    this.queueKeys = run.keys("queues");
    this.linkPorts = run.keys("links").map(([port]) => port);
    for (const port of this.linkPorts) {
      const column = (name: string) => run.column("links", name, port);
      this.linkCursors.push({ times: column("time"), place: 0, busy: column("busy"), intervals: column("interval"), starved: column("starved") });
    }
    const most = new Float64Array(ports.length);
    for (const key of this.queueKeys) {
      const column = (name: string) => run.column("queues", name, ...key);
      const held = column("input_held");
      this.queueCursors.push({ times: column("time"), place: 0, out: column("output_bytes"), held });
      if (key[1] === 0 || !run.network) held.forEach((value) => (most[key[0]] = Math.max(most[key[0]], value)));
    }
    this.pauseKeys = run.keys("pauses");
    for (const key of this.pauseKeys) {
      const column = (name: string) => run.column("pauses", name, ...key);
      this.pauseCursors.push({ times: column("end"), place: 0, starts: column("start"), covered: column("covered") });
    }
    // A port's room: what its class is given, else the most it was ever seen to hold.
    const dataClass = this.busiestClass();
    this.capacity = Float64Array.from(ports, (port) => {
      const kind = run.bufferOf(port.node);
      if (kind?.shared) return kind.shared / 4;
      return kind?.capacity[dataClass] ?? most[port.number];
    });
  }

  private busiestClass(): number {
    const classes = new Map<number, number>();
    for (const cell of this.run.about.flows["class"] ?? []) classes.set(Number(cell), (classes.get(Number(cell)) ?? 0) + 1);
    return [...classes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
  }

  roomOf(port: number): number {
    return this.capacity[port];
  }

  /** First row whose time is not before `at`; cursors walk, so that playing costs little. */
  private seek(cursor: Cursor, at: number): number {
    const { times } = cursor;
    if (cursor.place > times.length || (cursor.place > 0 && times[cursor.place - 1] >= at)) {
      let low = 0;
      let high = times.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] >= at) high = middle;
        else low = middle + 1;
      }
      cursor.place = low;
    } else {
      let steps = 0;
      while (cursor.place < times.length && times[cursor.place] < at) {
        cursor.place += 1;
        if (++steps > 16) {
          let low = cursor.place;
          let high = times.length;
          while (low < high) {
            const middle = (low + high) >> 1;
            if (times[middle] >= at) high = middle;
            else low = middle + 1;
          }
          cursor.place = low;
          break;
        }
      }
    }
    return cursor.place;
  }

  /** The sampling instant at or after a time. */
  instant(time: number): number {
    const { sample, end } = this.run;
    return Math.min(end, Math.max(sample, Math.ceil(time / sample - 1e-9) * sample));
  }

  lanes(at: number): LaneState {
    const count = this.run.ports.length;
    const state: LaneState = {
      busy: new Float32Array(count),
      paused: new Float32Array(count),
      starved: new Float32Array(count),
      lately: new Float32Array(count),
      waiting: new Float64Array(count),
      held: new Float64Array(count),
      fill: new Float32Array(count),
    };
    const { sample } = this.run;
    this.linkCursors.forEach((cursor, i) => {
      const row = this.seek(cursor, at);
      if (row < cursor.times.length && cursor.times[row] - cursor.intervals[row] < at) {
        state.busy[this.linkPorts[i]] = cursor.busy[row] / (cursor.intervals[row] || 1);
        state.starved[this.linkPorts[i]] = (cursor.starved[row] ?? 0) / (cursor.intervals[row] || 1);
      }
      const before = at - LATELY * sample;
      let lacked = 0;
      for (let r = Math.min(row, cursor.times.length - 1); r >= 0 && cursor.times[r] > before; r--) {
        const shared = Math.min(at, cursor.times[r]) - Math.max(before, cursor.times[r] - cursor.intervals[r]);
        if (shared > 0) lacked += (cursor.starved[r] * shared) / (cursor.intervals[r] || 1);
      }
      state.lately[this.linkPorts[i]] = Math.min(1, lacked / (LATELY * sample));
    });
    this.queueCursors.forEach((cursor, i) => {
      let row = this.seek(cursor, at);
      if (row === cursor.times.length || cursor.times[row] > at) row -= 1;
      if (row < 0) return;
      const port = this.queueKeys[i][0];
      state.waiting[port] += cursor.out[row];
      // Room is counted class by class; acknowledgements and other small things must not hide the data.
      state.held[port] = Math.max(state.held[port], cursor.held[row]);
    });
    this.pauseCursors.forEach((cursor, i) => {
      const port = this.pauseKeys[i][0];
      const from = at - sample;
      const before = at - LATELY * sample;
      let row = this.seek(cursor, before);
      let [sum, all] = [0, 0];
      for (; row < cursor.times.length && cursor.starts[row] < at; row++) {
        const dense = cursor.covered[row] / (cursor.times[row] - cursor.starts[row] || 1);
        const end = Math.min(cursor.times[row], at);
        sum += Math.max(0, end - Math.max(cursor.starts[row], from)) * dense;
        all += Math.max(0, end - Math.max(cursor.starts[row], before)) * dense;
      }
      state.paused[port] = Math.max(state.paused[port], Math.min(1, sum / sample));
      state.lately[port] = Math.max(state.lately[port], Math.min(1, all / (LATELY * sample)));
    });
    for (let port = 0; port < count; port++) {
      state.fill[port] = this.capacity[port] > 0 ? Math.min(1, state.held[port] / this.capacity[port]) : 0;
    }
    return state;
  }

  /** How much a lane is held back: a part of the interval, zero if it is not. */
  heldBack(state: LaneState, port: number): number {
    return state.lately[port] > HELD ? state.lately[port] : 0;
  }

  private readonly got = new Map<number, Series>();

  /** What a flow gets around an instant. */
  rateOf(flow: number, at: number): number {
    const known = this.got.get(flow) ?? this.run.throughput("flow_samples", [flow], this.run.windows().own);
    this.got.set(flow, known);
    return known.at(at);
  }

  /** The fair share of a flow that lasts; of one that comes and goes it says nothing. */
  shareOf(flow: number): number | null {
    return this.run.about.flows["size"]?.[flow] === null ? this.run.flows[flow].fairShare : null;
  }

  /** Whether a flow gets less than it should, as far as that is known. */
  private wants(flow: number, at: number): boolean {
    const share = this.shareOf(flow);
    return share === null || !this.run.has("flow_samples") || !(this.rateOf(flow, at) > share * 0.95);
  }

  private active(flow: number, at: number): boolean {
    const { start, end } = this.run.flows[flow];
    return start < at && end > at - this.run.sample;
  }

  /** Whether what comes by one lane leaves by the other. */
  private leads(from: number, to: number, at: number): boolean {
    if (!this.pathsKnown) return true;
    return this.feeds.get(from)?.get(to)?.some((flow) => this.active(flow, at)) ?? false;
  }

  read(time: number): Congestion {
    const at = this.instant(time);
    const state = this.lanes(at);
    const { ports, nodes } = this.run;
    const held: number[] = [];
    for (let port = 0; port < ports.length; port++) if (this.heldBack(state, port) > 0) held.push(port);
    const isHeld = new Set(held);
    const roots: { port: number; receiver: boolean }[] = [];
    for (let port = 0; port < ports.length; port++) {
      const receiver = isHeld.has(port) && nodes[ports[port].peerNode].host;
      const full = !isHeld.has(port) && state.waiting[port] > 0 && state.busy[port] >= FULL;
      if (receiver || full) roots.push({ port, receiver });
    }
    const all = new Set(roots.map(({ port }) => port));
    roots.sort((a, b) => state.waiting[b.port] - state.waiting[a.port]);
    const taken = new Set<number>();
    const trees: Tree[] = [];
    for (const { port: root, receiver } of roots) {
      const lanes: Tree["lanes"] = [];
      let edge = [root];
      for (let depth = 1; edge.length > 0; depth++) {
        const next: number[] = [];
        for (const lane of edge) {
          for (const input of nodes[ports[lane].node].ports) {
            const upstream = ports[input].peerPort;
            if (input === lane || !isHeld.has(upstream) || taken.has(upstream) || upstream === root) continue;
            if (!this.leads(upstream, lane, at)) continue;
            taken.add(upstream);
            lanes.push({ port: upstream, depth });
            next.push(upstream);
          }
        }
        edge = next;
      }
      if (lanes.length === 0 && !receiver) continue;
      taken.add(root);
      trees.push({ root, receiver, lanes, victims: this.victims(lanes, all, at) });
    }
    const stray = held.filter((port) => !taken.has(port));
    return { at, state, trees, stray, circle: this.circle(stray, at) };
  }

  /** A circle of lanes that wait for each other; empty if there is none. */
  private circle(stray: number[], at: number): number[] {
    const inside = new Set(stray);
    const done = new Set<number>();
    const { ports, nodes } = this.run;
    const onward = (port: number) => nodes[ports[port].peerNode].ports.filter((next) => inside.has(next) && next !== ports[port].peerPort && this.leads(port, next, at));
    for (const start of stray) {
      const path: number[] = [];
      const walk = (port: number): number[] | null => {
        const place = path.indexOf(port);
        if (place >= 0) return path.slice(place);
        if (done.has(port)) return null;
        path.push(port);
        for (const next of onward(port)) {
          const found = walk(next);
          if (found) return found;
        }
        path.pop();
        done.add(port);
        return null;
      };
      const found = walk(start);
      if (found) return found;
    }
    return [];
  }

  /** Flows that cross lanes of a tree, and no root: whoever crosses one has a part in it. */
  private victims(lanes: Tree["lanes"], roots: Set<number>, at: number): number[] {
    const found = new Set<number>();
    for (const { port } of lanes) {
      for (const flow of this.crossing.get(port) ?? []) {
        if (found.has(flow) || !this.active(flow, at)) continue;
        if (!this.run.flows[flow].path?.some((lane) => roots.has(lane)) && this.wants(flow, at)) found.add(flow);
      }
    }
    return [...found].sort((a, b) => a - b);
  }
}

/** How trees grow and shrink: held lanes and victims at up to so many instants. */
export interface Course {
  times: Float64Array;
  lanes: Float64Array;
  victims: Float64Array;
  /** For every flow at which part of the instants of its life it was a victim. */
  suffered: Float64Array;
  worst: Congestion | null;
  /** How bad it was then: lanes held back and, twice, victims. */
  weight: number;
  /** The stretch during which it was as bad. */
  stretch: [number, number];
  /** The part of the instants at which anything was held back. */
  part: number;
}

export async function course(reader: CongestionReader, run: Run, most: number): Promise<Course> {
  const samples = Math.max(1, Math.floor(run.end / run.sample));
  const every = Math.max(1, Math.ceil(samples / most));
  const count = Math.floor(samples / every);
  const made: Course = {
    times: new Float64Array(count),
    lanes: new Float64Array(count),
    victims: new Float64Array(count),
    suffered: new Float64Array(run.flows.length),
    worst: null,
    weight: 0,
    stretch: [0, 0],
    part: 0,
  };
  const weights = new Float64Array(count);
  let rest = performance.now();
  for (let i = 0; i < count; i++) {
    const seen = reader.read((i + 1) * every * run.sample);
    const lanes = seen.trees.reduce((sum, tree) => sum + tree.lanes.length, 0) + seen.stray.length;
    const victims = new Set(seen.trees.flatMap((tree) => tree.victims));
    made.times[i] = seen.at;
    made.lanes[i] = lanes;
    made.victims[i] = victims.size;
    for (const flow of victims) made.suffered[flow] += 1;
    weights[i] = lanes + victims.size * 2;
    if (performance.now() - rest > 30) {
      await new Promise((resolve) => setTimeout(resolve));
      rest = performance.now();
    }
  }
  run.flows.forEach(({ start, end }, flow) => {
    const alive = made.times.reduce((sum, at) => sum + (start < at && end > at - run.sample ? 1 : 0), 0);
    made.suffered[flow] = alive > 0 ? made.suffered[flow] / alive : 0;
  });
  made.part = made.lanes.reduce((sum, lanes) => sum + (lanes > 0 ? 1 : 0), 0) / Math.max(1, count);
  const longest = longestOfMost(weights);
  if (longest) {
    const [from, to] = longest;
    made.worst = reader.read(made.times[(from + to) >> 1]);
    made.weight = weights[from];
    made.stretch = [made.times[from], made.times[to]];
  }
  return made;
}

/** The longest stretch during which values were at their highest, first and last of it; nothing if they never rose. */
export function longestOfMost(values: ArrayLike<number>): [number, number] | null {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  if (most === 0) return null;
  let [from, length] = [0, 0];
  for (let i = 0; i < values.length; ) {
    let end = i;
    while (end < values.length && values[end] === most) end += 1;
    if (end - i > length) [from, length] = [i, end - i];
    i = end + 1;
  }
  return [from, from + length - 1];
}
