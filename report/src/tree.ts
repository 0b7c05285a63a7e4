// Congestion trees: which directions are blocked in which class, by which root, and which flows suffer without a part in it.
//
// A direction is one of the two of a link, named by the port that sends. It is blocked in a class when its sender obeys a
// pause of the class, or has frames of the class waiting and no credits for them. Classes are judged apart: flow control
// stops one and not the others. A root is a direction with frames of a class waiting that sends as fast as it can or whose link
// has failed, or one whose receiving host blocks it. From there upstream: a blocked direction belongs to the tree if a flow of the class crosses
// it and then a direction of the tree.
//
// A flow is a victim of a tree if it is under way, crosses a blocked direction of the tree in its own class, gets less than its
// fair share, and has no part in it: its own path does not lead from there over blocked directions to a root.
//
// All of this is an estimate from samples. Where the run has measured causes, trees and victims are those of the causes, and
// if a report has no room for their table, there are none.
import { ExactTrees } from "./exact";
import type { Run } from "./run";
import type { Series } from "./series";
import { inSlices } from "./turns";

/** Parts of the interval before an instant, by port; where it says so by port and class. */
export interface DirectionState {
  busy: Float32Array;
  /** Of the class that was paused longest. */
  paused: Float32Array;
  /** The wire stood still, frames waited, and lacked credits. */
  starved: Float32Array;
  /** Paused or without credits, of a few intervals: senders are stopped and started in turns. The class most blocked. */
  lately: Float32Array;
  /** The same by port and class. */
  blocked: Float32Array;
  /** Bytes waiting to leave by the port. */
  waiting: Float64Array;
  /** The same by port and class. */
  queued: Float64Array;
  /** Held of what came in by the port: bytes or frames. */
  held: Float64Array;
  /** The same as a part of the room there is. */
  fill: Float32Array;
}

export interface Tree {
  root: number;
  class: number;
  /** Whether a host blocks it, rather than the direction being full. */
  receiver: boolean;
  directions: { port: number; depth: number }[];
  victims: number[];
}

/** A direction in a class. */
export interface Blocked {
  port: number;
  class: number;
}

export interface Congestion {
  at: number;
  state: DirectionState;
  trees: Tree[];
  /** Blocked directions that no root explains: they wait in a circle, or for a root between two samples. */
  stray: Blocked[];
  /** Directions of them each of which waits for the next, and the last for the first. */
  circle: Blocked[];
  /** Directions whose link is down. */
  failed: number[];
  /** Whether it is measured, rather than estimated from samples. */
  exact: boolean;
  /** Whether roots and victims are known: measured ones may be left out of a report. */
  known: boolean;
}

/** More of the interval than this is as good as all of it. */
const FULL = 0.85;
const HELD = 0.05;
/** A flow that gets this part of its fair share has it. */
const FAIR = 0.95;
/** Intervals over which a direction that is stopped in turns counts as blocked. */
const LATELY = 4;

interface Cursor {
  times: Float64Array;
  place: number;
}

type Sums = Cursor & { intervals: Float64Array; starved: Float64Array };

/** The mean over a stretch of a level that holds from each time on; nothing before the first. */
export function meanLevel(times: ArrayLike<number>, values: ArrayLike<number>, from: number, to: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] > from) high = middle;
    else low = middle + 1;
  }
  let sum = 0;
  for (let i = Math.max(0, low - 1); i < times.length && times[i] < to; i++) {
    const until = i + 1 < times.length ? Math.min(to, times[i + 1]) : to;
    sum += values[i] * Math.max(0, until - Math.max(from, times[i]));
  }
  return to > from ? sum / (to - from) : 0;
}

export class CongestionReader {
  /** Directions are numbered by port and class here. */
  private readonly feeds = new Map<number, Map<number, number[]>>();
  private readonly crossing = new Map<number, number[]>();
  private readonly classes: number;
  private readonly capacity: Float64Array;
  private readonly pathsKnown: boolean;
  private readonly queueKeys: number[][];
  private readonly linkCursors: (Sums & { busy: Float64Array })[] = [];
  private readonly linkPorts: number[];
  private readonly starvedCursors: Sums[] = [];
  private readonly starvedKeys: number[][];
  private readonly queueCursors: (Cursor & { out: Float64Array; held: Float64Array })[] = [];
  private readonly pauseCursors: (Cursor & { starts: Float64Array; covered: Float64Array })[] = [];
  private readonly pauseKeys: number[][];
  private readonly exact: ExactTrees | null;

  constructor(private readonly run: Run) {
    const { ports } = run;
    this.window = run.windows().own;
    this.exact = run.why && run.series["trees"] ? new ExactTrees(run) : null;
    this.queueKeys = run.keys("queues");
    this.pauseKeys = run.keys("pauses");
    this.starvedKeys = run.keys("starved");
    const known = [...this.queueKeys, ...this.pauseKeys, ...this.starvedKeys].reduce((most, [, of]) => Math.max(most, of + 1), 1);
    this.classes = run.flows.reduce((most, flow) => Math.max(most, flow.class + 1), Math.max(known, run.network?.classes.length ?? 1));
    this.pathsKnown = run.flows.length > 0 && run.flows.every((flow) => flow.path !== null);
    for (const flow of run.flows) {
      const path = this.pathOf(flow.number);
      path.forEach((cell, i) => {
        const crossing = this.crossing.get(cell);
        if (crossing) crossing.push(flow.number);
        else this.crossing.set(cell, [flow.number]);
        if (i + 1 === path.length) return;
        const next = this.feeds.get(cell) ?? new Map<number, number[]>();
        this.feeds.set(cell, next);
        const flows = next.get(path[i + 1]);
        if (flows) flows.push(flow.number);
        else next.set(path[i + 1], [flow.number]);
      });
    }
    this.linkPorts = run.keys("links").map(([port]) => port);
    for (const port of this.linkPorts) {
      const column = (name: string) => run.column("links", name, port);
      this.linkCursors.push({ times: column("time"), place: 0, busy: column("busy"), intervals: column("interval"), starved: column("starved") });
    }
    for (const key of this.starvedKeys) {
      const column = (name: string) => run.column("starved", name, ...key);
      this.starvedCursors.push({ times: column("time"), place: 0, intervals: column("interval"), starved: column("starved") });
    }
    const most = new Float64Array(ports.length);
    for (const key of this.queueKeys) {
      const column = (name: string) => run.column("queues", name, ...key);
      const held = column("input_held");
      this.queueCursors.push({ times: column("time"), place: 0, out: column("output_bytes"), held });
      if (key[1] === 0 || !run.network) held.forEach((value) => (most[key[0]] = Math.max(most[key[0]], value)));
    }
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

  private cell(port: number, of: number): number {
    return port * this.classes + of;
  }

  private portOf(cell: number): number {
    return Math.floor(cell / this.classes);
  }

  /** The directions that a flow crosses, in its class. */
  private pathOf(flow: number): number[] {
    const { path, class: of } = this.run.flows[flow];
    return (path ?? []).map((port) => this.cell(port, of));
  }

  private busiestClass(): number {
    const classes = new Map<number, number>();
    for (const { class: of } of this.run.flows) classes.set(of, (classes.get(of) ?? 0) + 1);
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

  /** The part of the last few intervals during which credits lacked. */
  private lacked(cursor: Sums, row: number, at: number): number {
    const span = LATELY * this.run.sample;
    let lacked = 0;
    for (let r = Math.min(row, cursor.times.length - 1); r >= 0 && cursor.times[r] > at - span; r--) {
      const shared = Math.min(at, cursor.times[r]) - Math.max(at - span, cursor.times[r] - cursor.intervals[r]);
      if (shared > 0) lacked += (cursor.starved[r] * shared) / (cursor.intervals[r] || 1);
    }
    return Math.min(1, lacked / span);
  }

  directions(at: number): DirectionState {
    const count = this.run.ports.length;
    const state: DirectionState = {
      busy: new Float32Array(count),
      paused: new Float32Array(count),
      starved: new Float32Array(count),
      lately: new Float32Array(count),
      blocked: new Float32Array(count * this.classes),
      waiting: new Float64Array(count),
      queued: new Float64Array(count * this.classes),
      held: new Float64Array(count),
      fill: new Float32Array(count),
    };
    const { sample } = this.run;
    this.linkCursors.forEach((cursor, i) => {
      const port = this.linkPorts[i];
      const row = this.seek(cursor, at);
      if (row < cursor.times.length && cursor.times[row] - cursor.intervals[row] < at) {
        state.busy[port] = cursor.busy[row] / (cursor.intervals[row] || 1);
        state.starved[port] = (cursor.starved[row] ?? 0) / (cursor.intervals[row] || 1);
      }
      // Without room for the table starved, want of credits is that of all classes.
      if (!this.run.series["starved"]) state.blocked.fill(this.lacked(cursor, row, at), this.cell(port, 0), this.cell(port + 1, 0));
    });
    this.starvedCursors.forEach((cursor, i) => {
      const [port, of] = this.starvedKeys[i];
      state.blocked[this.cell(port, of)] = this.lacked(cursor, this.seek(cursor, at), at);
    });
    this.queueCursors.forEach((cursor, i) => {
      let row = this.seek(cursor, at);
      if (row === cursor.times.length || cursor.times[row] > at) row -= 1;
      if (row < 0) return;
      const [port, of] = this.queueKeys[i];
      state.waiting[port] += cursor.out[row];
      state.queued[this.cell(port, of)] = cursor.out[row];
      // Room is counted class by class; acknowledgements and other small things must not hide the data.
      state.held[port] = Math.max(state.held[port], cursor.held[row]);
    });
    this.pauseCursors.forEach((cursor, i) => {
      const [port, of] = this.pauseKeys[i];
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
      const cell = this.cell(port, of);
      state.blocked[cell] = Math.max(state.blocked[cell], Math.min(1, all / (LATELY * sample)));
    });
    for (let port = 0; port < count; port++) {
      for (let of = 0; of < this.classes; of++) state.lately[port] = Math.max(state.lately[port], state.blocked[this.cell(port, of)]);
      state.fill[port] = this.capacity[port] > 0 ? Math.min(1, state.held[port] / this.capacity[port]) : 0;
    }
    return state;
  }

  /** How much a direction is blocked, in the class that is most: a part of the interval, zero if it is not. */
  heldBack(state: DirectionState, port: number): number {
    return state.lately[port] > HELD ? state.lately[port] : 0;
  }

  /** How much a direction is blocked in a class. */
  blockedIn(state: DirectionState, direction: Blocked): number {
    return state.blocked[this.cell(direction.port, direction.class)];
  }

  /** The classes in which a direction is blocked. */
  blockedClasses(state: DirectionState, port: number): number[] {
    return Array.from({ length: this.classes }, (_, of) => of).filter((of) => state.blocked[this.cell(port, of)] > HELD);
  }

  private readonly got = new Map<number, Series>();
  private readonly window: number;

  /** What a flow gets around an instant. */
  rateOf(flow: number, at: number): number {
    const known = this.got.get(flow) ?? this.run.throughput("flow_samples", [flow], this.window);
    this.got.set(flow, known);
    return known.at(at);
  }

  /**
   * The fair share of a flow over the same window, among the flows under way. Null if it is not known; without room for
   * the table fair_shares, only the mean over its life is, of a flow that lasts.
   */
  shareOf(flow: number, at: number): number | null {
    const { fairShare, finite } = this.run.flows[flow];
    if (!this.run.series["fair_shares"]) return finite ? null : fairShare;
    const times = this.run.column("fair_shares", "time", flow);
    if (times.length === 0) return null;
    return meanLevel(times, this.run.column("fair_shares", "share", flow), at - this.window, at);
  }

  /** Whether a flow gets less than its fair share, which is never more than it offers. What is not known is not less. */
  private wants(flow: number, at: number): boolean {
    const share = this.run.has("flow_samples") ? this.shareOf(flow, at) : null;
    return share !== null && this.rateOf(flow, at) < share * FAIR;
  }

  private active(flow: number, at: number): boolean {
    const { start, end } = this.run.flows[flow];
    return start < at && end > at - this.run.sample;
  }

  /** Whether what comes by one direction leaves by the other. */
  private leads(from: number, to: number, at: number): boolean {
    if (!this.pathsKnown) return true;
    return this.feeds.get(from)?.get(to)?.some((flow) => this.active(flow, at)) ?? false;
  }

  read(time: number): Congestion {
    const at = this.instant(time);
    const state = this.directions(at);
    const { ports, nodes } = this.run;
    const failed = new Set(this.run.failed(at - this.run.sample, at));
    if (this.exact) return { at, state, ...this.exact.read(at), failed: [...failed], exact: true, known: true };
    const held = new Set<number>();
    state.blocked.forEach((part, cell) => part > HELD && held.add(cell));
    const named = (cell: number) => ({ port: this.portOf(cell), class: cell % this.classes });
    // An estimate must not stand beside what was measured.
    if (this.run.why) return { at, state, trees: [], stray: [...held].map(named), circle: [], failed: [...failed], exact: true, known: false };
    const roots: { cell: number; receiver: boolean }[] = [];
    for (let cell = 0; cell < state.blocked.length; cell++) {
      const port = this.portOf(cell);
      const receiver = held.has(cell) && nodes[ports[port].peerNode].host;
      const full = !held.has(cell) && state.queued[cell] > 0 && (state.busy[port] >= FULL || failed.has(port));
      if (receiver || full) roots.push({ cell, receiver });
    }
    const all = new Set(roots.map(({ cell }) => cell));
    roots.sort((a, b) => state.queued[b.cell] - state.queued[a.cell]);
    const taken = new Set<number>();
    const trees: Tree[] = [];
    for (const { cell: root, receiver } of roots) {
      const of = root % this.classes;
      const directions: Tree["directions"] = [];
      let edge = [root];
      for (let depth = 1; edge.length > 0; depth++) {
        const next: number[] = [];
        for (const direction of edge) {
          const out = this.portOf(direction);
          for (const input of nodes[ports[out].node].ports) {
            const upstream = this.cell(ports[input].peerPort, of);
            if (input === out || !held.has(upstream) || taken.has(upstream) || upstream === root) continue;
            if (!this.leads(upstream, direction, at)) continue;
            taken.add(upstream);
            directions.push({ port: ports[input].peerPort, depth });
            next.push(upstream);
          }
        }
        edge = next;
      }
      if (directions.length === 0 && !receiver) continue;
      taken.add(root);
      trees.push({ root: this.portOf(root), class: of, receiver, directions, victims: this.victims(directions, of, held, all, at) });
    }
    const stray = [...held].filter((cell) => !taken.has(cell));
    return { at, state, trees, stray: stray.map(named), circle: this.circle(stray, at).map(named), failed: [...failed], exact: false, known: true };
  }

  /** A circle of directions that wait for each other; empty if there is none. */
  private circle(stray: number[], at: number): number[] {
    const inside = new Set(stray);
    const done = new Set<number>();
    const { ports, nodes } = this.run;
    const onward = (cell: number) => {
      const { peerNode, peerPort } = ports[this.portOf(cell)];
      const outputs = nodes[peerNode].ports.filter((next) => next !== peerPort).map((next) => this.cell(next, cell % this.classes));
      return outputs.filter((next) => inside.has(next) && this.leads(cell, next, at));
    };
    for (const start of stray) {
      const path: number[] = [];
      const walk = (cell: number): number[] | null => {
        const place = path.indexOf(cell);
        if (place >= 0) return path.slice(place);
        if (done.has(cell)) return null;
        path.push(cell);
        for (const next of onward(cell)) {
          const found = walk(next);
          if (found) return found;
        }
        path.pop();
        done.add(cell);
        return null;
      };
      const found = walk(start);
      if (found) return found;
    }
    return [];
  }

  /** Flows that cross blocked directions of a tree, have no part in it, and get less than their fair share. */
  private victims(directions: Tree["directions"], of: number, held: Set<number>, roots: Set<number>, at: number): number[] {
    const judged = new Set<number>();
    const found: number[] = [];
    const tree = new Set(directions.map(({ port }) => this.cell(port, of)));
    for (const direction of tree) {
      for (const flow of this.crossing.get(direction) ?? []) {
        if (judged.has(flow) || !this.active(flow, at)) continue;
        judged.add(flow);
        const path = this.pathOf(flow);
        if (path.some((cell, place) => tree.has(cell) && !this.hasPart(path, place, held, roots)) && this.wants(flow, at)) found.push(flow);
      }
    }
    return found.sort((a, b) => a - b);
  }

  /** Whether a path leads from a blocked direction of it, over blocked directions, to a root: then its flow is among those that fill it. */
  private hasPart(path: number[], place: number, held: Set<number>, roots: Set<number>): boolean {
    if (roots.has(path[place])) return true;
    for (let next = place + 1; next < path.length; next++) {
      if (roots.has(path[next])) return true;
      if (!held.has(path[next])) return false;
    }
    return false;
  }
}

/** How trees grow and shrink: blocked directions and victims at up to so many instants. */
export interface Course {
  times: Float64Array;
  directions: Float64Array;
  victims: Float64Array;
  /** For every flow at which part of the instants of its life it was a victim. */
  suffered: Float64Array;
  worst: Congestion | null;
  /** How bad it was then: blocked directions and, twice, victims. */
  weight: number;
  /** The stretch during which it was as bad. */
  stretch: [number, number];
  /** The part of the instants at which anything was blocked. */
  part: number;
}

/** The course of a run; nothing if it is no longer wanted. */
export async function course(reader: CongestionReader, run: Run, most: number, wanted = () => true): Promise<Course | null> {
  const samples = Math.max(1, Math.floor(run.end / run.sample));
  const every = Math.max(1, Math.ceil(samples / most));
  const count = Math.floor(samples / every);
  const made: Course = {
    times: new Float64Array(count),
    directions: new Float64Array(count),
    victims: new Float64Array(count),
    suffered: new Float64Array(run.flows.length),
    worst: null,
    weight: 0,
    stretch: [0, 0],
    part: 0,
  };
  const weights = new Float64Array(count);
  const breathe = inSlices();
  for (let i = 0; i < count; i++) {
    const seen = reader.read((i + 1) * every * run.sample);
    // A direction that is blocked in two classes is one direction.
    const directions = new Set([...seen.trees.flatMap((tree) => tree.directions), ...seen.stray, ...seen.circle].map(({ port }) => port)).size;
    const victims = new Set(seen.trees.flatMap((tree) => tree.victims));
    made.times[i] = seen.at;
    made.directions[i] = directions;
    made.victims[i] = victims.size;
    for (const flow of victims) made.suffered[flow] += 1;
    weights[i] = directions + victims.size * 2;
    await breathe();
    if (!wanted()) return null;
  }
  run.flows.forEach(({ start, end }, flow) => {
    const alive = made.times.reduce((sum, at) => sum + (start < at && end > at - run.sample ? 1 : 0), 0);
    made.suffered[flow] = alive > 0 ? made.suffered[flow] / alive : 0;
  });
  made.part = made.directions.reduce((sum, directions) => sum + (directions > 0 ? 1 : 0), 0) / Math.max(1, count);
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
