// Where nodes are drawn: layers for trees, a circle for rings, a row for chains, and for all else a map in which near is
// near. The same network is always drawn the same way: nothing here is drawn by lot.
import type { Run } from "./run";

export interface Layout {
  xs: Float64Array;
  ys: Float64Array;
  /** Width over height that suits it. */
  aspect: number;
  /** Names of hosts stand on that side of them. */
  side: ("left" | "right" | "above" | "below")[];
  kind: "layers" | "ring" | "row" | "grid" | "map";
}

interface Shape {
  run: Run;
  switches: number[];
  hosts: number[];
  /** Switches that each switch is joined to. */
  next: Map<number, number[]>;
  /** Hosts of each switch. */
  own: Map<number, number[]>;
  home: Map<number, number>;
}

function shapeOf(run: Run): Shape {
  const switches: number[] = [];
  const hosts: number[] = [];
  const next = new Map<number, number[]>();
  const own = new Map<number, number[]>();
  const home = new Map<number, number>();
  run.nodes.forEach((node, i) => (node.host ? hosts : switches).push(i));
  for (const at of switches) {
    const peers = new Set(run.nodes[at].ports.map((port) => run.ports[port].peerNode));
    next.set(at, [...peers].filter((peer) => !run.nodes[peer].host));
    own.set(at, [...peers].filter((peer) => run.nodes[peer].host));
    for (const host of own.get(at)!) home.set(host, at);
  }
  return { run, switches, hosts, next, own, home };
}

/** The switches in a row or a circle, in order; null if they form neither. */
function inLine(shape: Shape, circle: boolean): number[] | null {
  const { switches, next } = shape;
  const degree = (at: number) => next.get(at)!.length;
  if (circle ? switches.length < 3 || switches.some((at) => degree(at) !== 2) : switches.some((at) => degree(at) > 2)) return null;
  const start = circle ? switches[0] : switches.length === 1 ? switches[0] : switches.find((at) => degree(at) === 1);
  if (start === undefined) return null;
  const order = [start];
  const seen = new Set(order);
  for (;;) {
    // Of the two ways round a circle, the one that goes up in number.
    const on = next.get(order[order.length - 1])!.filter((peer) => !seen.has(peer)).sort((a, b) => a - b)[0];
    if (on === undefined) break;
    order.push(on);
    seen.add(on);
  }
  return order.length === switches.length ? order : null;
}

/** Hosts that only receive. */
function receivers(run: Run): Set<string> {
  const sends = new Set(run.flows.map((flow) => flow.source));
  return new Set(run.flows.map((flow) => flow.destination).filter((name) => !sends.has(name)));
}

function spread(count: number, place: number): number {
  return count === 1 ? 0 : place / (count - 1) - 0.5;
}

function row(shape: Shape, order: number[]): Layout {
  const { run, own } = shape;
  const layout = blank(run, "row");
  const last = order.length - 1;
  const sinks = receivers(run);
  const most = Math.max(1, ...order.map((at) => own.get(at)!.length));
  const step = Math.max(1.1, last === 0 ? 0 : 1.1);
  const fan = (hosts: number[], x: number, y: number, wide: number, vertical: boolean, side: Layout["side"][number]) => {
    hosts.forEach((host, i) => {
      const at = spread(hosts.length, i) * wide;
      layout.xs[host] = vertical ? x : x + at;
      layout.ys[host] = vertical ? y + at : y;
      layout.side[host] = side;
    });
  };
  const tall = Math.max(0.9, Math.min(2, most * 0.13));
  order.forEach((at, i) => {
    const x = i * step;
    layout.xs[at] = x;
    layout.ys[at] = 0;
    const hosts = own.get(at)!;
    const takes = hosts.filter((host) => sinks.has(run.nodes[host].name));
    const gives = hosts.filter((host) => !sinks.has(run.nodes[host].name));
    if (last === 0) {
      const [left, right] = takes.length > 0 && gives.length > 0 ? [gives, takes] : halves(hosts);
      fan(left, x - 0.9, 0, tall, true, "left");
      fan(right, x + 0.9, 0, right.length === 1 ? 0 : tall, true, "right");
    } else if (i === 0) {
      fan(hosts, x - 0.8, 0, tall, true, "left");
    } else if (i === last) {
      // Those that only receive go on to the right; senders stand below, so that both ways in are seen.
      if (takes.length > 0 && gives.length > 0) {
        fan(takes, x + 0.8, -0.1, Math.min(0.9, takes.length * 0.3), true, "right");
        fan(gives, x, 0.75, Math.max(0.9, Math.min(1.5, gives.length * 0.15)), false, "below");
      } else fan(hosts, x + 0.8, 0, tall, true, "right");
    } else {
      fan(hosts, x, 0.7, Math.min(0.9, hosts.length * 0.2), false, "below");
    }
  });
  return layout;
}

function halves(hosts: number[]): [number[], number[]] {
  const half = Math.ceil(hosts.length / 2);
  return [hosts.slice(0, half), hosts.slice(half)];
}

function blank(run: Run, kind: Layout["kind"]): Layout {
  const count = run.nodes.length;
  return { xs: new Float64Array(count), ys: new Float64Array(count), aspect: 2.3, side: new Array(count).fill("below"), kind };
}

/** Hosts on the far side of their switch, seen from a middle. */
function hostsOutside(shape: Shape, layout: Layout, middle: [number, number], reach: number): void {
  for (const [at, hosts] of shape.own) {
    const [dx, dy] = [layout.xs[at] - middle[0], layout.ys[at] - middle[1]];
    const out = Math.hypot(dx, dy) < 1e-6 ? Math.PI / 2 : Math.atan2(dy, dx);
    const wide = Math.min(Math.PI * 0.9, 0.42 * (hosts.length - 1));
    hosts.forEach((host, i) => {
      const angle = out + spread(hosts.length, i) * wide;
      layout.xs[host] = layout.xs[at] + Math.cos(angle) * reach;
      layout.ys[host] = layout.ys[at] + Math.sin(angle) * reach;
      const flat = Math.abs(Math.cos(angle)) > 0.6;
      layout.side[host] = flat ? (Math.cos(angle) > 0 ? "right" : "left") : Math.sin(angle) > 0 ? "below" : "above";
    });
  }
}

function ring(shape: Shape, order: number[]): Layout {
  const layout = blank(shape.run, "ring");
  order.forEach((at, i) => {
    const angle = (i / order.length) * 2 * Math.PI - Math.PI / 2 - Math.PI / order.length;
    layout.xs[at] = Math.cos(angle);
    layout.ys[at] = Math.sin(angle);
  });
  hostsOutside(shape, layout, [0, 0], Math.max(0.35, 1.6 / order.length));
  return { ...layout, aspect: 1.7 };
}

function layers(shape: Shape): Layout {
  const { run, switches, own } = shape;
  const layout = blank(run, "layers");
  const top = Math.max(...switches.map((at) => run.nodes[at].layer));
  // Every host has a place of its own along the bottom; a switch stands above the middle of what is below it.
  let place = 0;
  const bottom = switches.filter((at) => own.get(at)!.length > 0);
  for (const at of bottom) {
    const hosts = own.get(at)!;
    hosts.forEach((host) => {
      layout.xs[host] = place;
      layout.ys[host] = 0;
      place += 1;
    });
    layout.xs[at] = place - (hosts.length + 1) / 2;
    place += 0.6;
  }
  const wide = Math.max(1, place);
  for (let layer = 1; layer <= top; layer++) {
    const here = switches.filter((at) => run.nodes[at].layer === layer);
    const free = here.filter((at) => own.get(at)!.length === 0);
    const below = (at: number) => shape.next.get(at)!.filter((peer) => run.nodes[peer].layer < layer);
    const middle = new Map(
      free.map((at) => {
        const peers = below(at);
        return [at, peers.length === 0 ? wide / 2 : peers.reduce((sum, peer) => sum + layout.xs[peer], 0) / peers.length] as const;
      }),
    );
    const order = [...free].sort((a, b) => middle.get(a)! - middle.get(b)! || a - b);
    const distinct = new Set(order.map((at) => Math.round(middle.get(at)! * 100))).size;
    order.forEach((at, i) => {
      // Those over the same middle, such as the spines, share the width evenly.
      layout.xs[at] = distinct > order.length * 0.4 && distinct > 1 && layer < top ? middle.get(at)! : ((i + 0.5) / order.length) * wide;
    });
    // Several over one place stand side by side.
    for (let i = 0; i < order.length; ) {
      let j = i + 1;
      while (j < order.length && Math.abs(layout.xs[order[j]] - layout.xs[order[i]]) < 1e-6) j += 1;
      const gap = (wide / Math.max(1, order.length)) * 0.9;
      for (let k = i; k < j; k++) layout.xs[order[k]] += (k - i - (j - i - 1) / 2) * gap;
      i = j;
    }
    for (const at of here) layout.ys[at] = -layer;
  }
  // The width of a picture is 1 per layer and a half, however many hosts.
  const scale = ((top + 1) * 2.1) / wide;
  for (let i = 0; i < layout.xs.length; i++) layout.xs[i] *= scale;
  return { ...layout, aspect: 2.1 };
}

/** Switches on a grid of one or two dimensions, numbered row by row. */
function grid(shape: Shape, dims: number[]): Layout {
  const { switches } = shape;
  const layout = blank(shape.run, "grid");
  // Rows that are rings are bent: the cable that closes one must not lie on the others.
  const bend = shape.run.network?.topology === "torus" ? 0.45 : 0;
  const bow = (place: number, dim: number) => (dim > 1 ? bend * (1 - ((2 * place) / (dim - 1) - 1) ** 2) : 0);
  switches.forEach((at, i) => {
    let rest = i;
    const place = dims.map((dim) => {
      const along = rest % dim;
      rest = Math.floor(rest / dim);
      return along;
    });
    const [x, y, z] = [place[0], place[1] ?? 0, place[2] ?? 0];
    layout.xs[at] = x * 1.2 + y * 0.12 + z * (dims[0] * 1.2 + 0.9) + bow(y, dims[1] ?? 1);
    layout.ys[at] = y * 1.2 + x * 0.12 + bow(x, dims[0]);
  });
  for (const [at, hosts] of shape.own) {
    hosts.forEach((host, i) => {
      const angle = Math.PI * 0.28 + spread(hosts.length, i) * Math.min(1.4, 0.3 * hosts.length);
      layout.xs[host] = layout.xs[at] + Math.cos(angle) * 0.45;
      layout.ys[host] = layout.ys[at] + Math.sin(angle) * 0.45;
      layout.side[host] = "right";
    });
  }
  return { ...layout, aspect: 1.8 };
}

/** Distances between switches, by cables. */
function distances(shape: Shape, from: number, index: Map<number, number>): Float64Array {
  const far = new Float64Array(shape.switches.length).fill(Infinity);
  far[index.get(from)!] = 0;
  let edge = [from];
  for (let depth = 1; edge.length > 0; depth++) {
    const on: number[] = [];
    for (const at of edge) {
      for (const peer of shape.next.get(at)!) {
        const place = index.get(peer)!;
        if (far[place] === Infinity) {
          far[place] = depth;
          on.push(peer);
        }
      }
    }
    edge = on;
  }
  return far;
}

/** Stress majorisation: distances on paper like distances by cable. */
function map(shape: Shape): Layout {
  const { run, switches } = shape;
  const layout = blank(run, "map");
  const count = switches.length;
  const index = new Map(switches.map((at, i) => [at, i]));
  const xs = new Float64Array(count);
  const ys = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    // A sunflower to start from: nothing lies on anything else.
    const angle = i * 2.399963229728653;
    const radius = Math.sqrt(i + 0.5);
    [xs[i], ys[i]] = [Math.cos(angle) * radius, Math.sin(angle) * radius];
  }
  const far = switches.map((at) => distances(shape, at, index));
  const rounds = count > 400 ? 12 : count > 100 ? 60 : 200;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < count; i++) {
      let [sx, sy, weight] = [0, 0, 0];
      for (let j = 0; j < count; j++) {
        const d = far[i][j];
        if (i === j || d === Infinity) continue;
        const w = 1 / (d * d);
        const length = Math.hypot(xs[i] - xs[j], ys[i] - ys[j]) || 1e-9;
        sx += w * (xs[j] + ((xs[i] - xs[j]) / length) * d);
        sy += w * (ys[j] + ((ys[i] - ys[j]) / length) * d);
        weight += w;
      }
      if (weight > 0) [xs[i], ys[i]] = [sx / weight, sy / weight];
    }
  }
  let [mx, my] = [0, 0];
  for (let i = 0; i < count; i++) {
    mx += xs[i] / count;
    my += ys[i] / count;
  }
  switches.forEach((at, i) => {
    layout.xs[at] = xs[i];
    layout.ys[at] = ys[i];
  });
  hostsOutside(shape, layout, [mx, my], 0.5);
  return { ...layout, aspect: 1.6 };
}

/** Groups around a circle, the routers of each around its place. */
function groups(shape: Shape, size: number): Layout {
  const { switches } = shape;
  const layout = blank(shape.run, "map");
  const count = Math.ceil(switches.length / size);
  const inner = Math.min(0.42, (Math.PI / Math.max(2, count)) * 0.62);
  switches.forEach((at, i) => {
    const turn = (Math.floor(i / size) / count) * 2 * Math.PI - Math.PI / 2;
    const own = turn + ((i % size) / size) * 2 * Math.PI + Math.PI / size;
    layout.xs[at] = Math.cos(turn) * 1.6 + Math.cos(own) * inner;
    layout.ys[at] = Math.sin(turn) + Math.sin(own) * inner * 0.8;
  });
  for (const [at, hosts] of shape.own) {
    const turn = (Math.floor(switches.indexOf(at) / size) / count) * 2 * Math.PI - Math.PI / 2;
    const [dx, dy] = [layout.xs[at] - Math.cos(turn) * 1.6, layout.ys[at] - Math.sin(turn)];
    const out = Math.atan2(dy, dx);
    hosts.forEach((host, i) => {
      const angle = out + spread(hosts.length, i) * Math.min(1.6, 0.6 * (hosts.length - 1));
      layout.xs[host] = layout.xs[at] + Math.cos(angle) * inner * 0.45;
      layout.ys[host] = layout.ys[at] + Math.sin(angle) * inner * 0.45;
    });
  }
  return { ...layout, aspect: 1.6 };
}

/** A number of the plan. */
function planned(run: Run, key: string): number {
  return Number(run.about.manifest.plan?.entries?.find((entry) => entry.key === key)?.value ?? NaN);
}

function dimsOf(run: Run): number[] | null {
  const topology = run.network?.topology;
  if (topology !== "torus" && topology !== "mesh") return null;
  const entry = run.about.manifest.plan?.entries?.find((entry) => entry.key === "network.dims");
  const dims = (entry?.value.match(/\d+/g) ?? []).map(Number);
  return dims.length >= 1 && dims.length <= 3 ? dims : null;
}

export function layoutOf(run: Run): Layout {
  const shape = shapeOf(run);
  if (shape.switches.length === 0) return ring(shape, shape.hosts);
  const dims = dimsOf(run);
  if (dims && dims.reduce((a, b) => a * b, 1) === shape.switches.length) return grid(shape, dims);
  const routers = planned(run, "network.routers_per_group");
  if (run.network?.topology === "dragonfly" && routers > 1) return groups(shape, routers);
  if (Math.max(...shape.switches.map((at) => run.nodes[at].layer)) > 1) return layers(shape);
  const line = inLine(shape, false);
  if (line) return row(shape, line);
  const circle = inLine(shape, true);
  if (circle) return ring(shape, circle);
  return map(shape);
}
