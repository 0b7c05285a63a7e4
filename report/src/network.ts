// The network drawn at an instant: links by utilisation, queues by length, blocked links and their roots.
import { csvLines, Plot, type Painter } from "./plot";
import { el } from "./dom";
import { digits, show, showTime } from "./format";
import { DirectionBitmap } from "./directionbitmap";
import { Labels, type Candidate } from "./labels";
import { layoutOf, type Layout } from "./layout";
import type { Run } from "./run";
import type { Surface } from "./surface";
import { LIGHT, loadColour, type Theme } from "./theme";
import { CongestionReader, type Blocked, type Congestion } from "./tree";

interface Place {
  x: number;
  y: number;
}

/** Levels of colour for how busy a direction is. */
const SHADES = 20;
/** More directions than this are painted pixel by pixel. */
const MANY = 1500;
/** Less than this is a phone, or one of several drawings. */
const NARROW = 480;

/** Roots with a ring and a name. */
const RINGS = 4;
/** Room between a switch and its ring. */
const RING = 5;

/** A cross on its own ground. */
function cross(surface: Surface, x: number, y: number, size: number, colour: string, ground: string): void {
  const strokes = [[x - size, y - size, x + size, y + size], [x - size, y + size, x + size, y - size]];
  for (const stroke of strokes) surface.line(stroke, { colour: ground, width: 5 });
  for (const stroke of strokes) surface.line(stroke, { colour, width: 2.5 });
}

export class NetworkDrawing implements Painter {
  readonly title: string;
  readonly plot: Plot;
  readonly root: HTMLElement;
  readonly reader: CongestionReader;
  private readonly layout: Layout;
  private readonly status: HTMLElement;
  private readonly tip: HTMLElement;
  private seen: Congestion | null = null;
  private places: Place[] = [];
  private hovered: number | null = null;
  private zoom = 1;
  private shift: Place = { x: 0, y: 0 };
  private readonly mostWaiting: number;
  /** Flows whose fate is told at every instant. */
  private followed: number[] = [];
  private readonly bounds: { left: number; right: number; top: number; bottom: number };
  selected: number | null = null;
  /** Called with the port of a direction that was clicked. */
  onSelect: (port: number) => void = () => {};

  constructor(
    readonly run: Run,
    title: string,
    private readonly compact: boolean,
  ) {
    this.title = title;
    this.layout = layoutOf(run);
    this.reader = new CongestionReader(run);
    const finite = (values: Float64Array) => [Math.min(...values), Math.max(...values)];
    const [left, right] = finite(this.layout.xs);
    const [top, bottom] = finite(this.layout.ys);
    this.bounds = { left, right, top, bottom };
    let most = 0;
    for (const value of run.table("queues")?.columns["output_bytes"] ?? []) if (value > most) most = value;
    this.mostWaiting = most;
    this.plot = new Plot(this);
    this.plot.box.classList.add("network");
    this.status = el("p", { class: "status" });
    this.tip = el("div", { class: "tip" });
    this.tip.hidden = true;
    this.plot.box.append(this.tip);
    const header = el("header", {}, el("h3", {}, title), el("span", { class: "tools" }, this.plot.exports()));
    const missing = [run.has("links") ? "" : "link utilisation", run.has("queues") ? "" : "queue lengths"].filter((what) => what !== "");
    const unknown = missing.length > 0 ? el("p", { class: "note" }, `Not recorded: ${missing.join(" and ")}.`) : null;
    this.root = el("section", { class: "chart drawing" }, header, this.plot.box, this.status, unknown);
    this.listen();
  }

  /** Tells what becomes of some flows even where nothing holds them back, as where another run has victims. */
  follow(flows: number[]): void {
    this.followed = flows.slice(0, 2);
    if (this.seen) this.status.replaceChildren(...this.words(this.seen));
  }

  /** Shows an instant. */
  show(time: number): void {
    this.seen = this.reader.read(time);
    this.status.replaceChildren(...this.words(this.seen));
    this.plot.later();
  }

  get congestion(): Congestion | null {
    return this.seen;
  }

  private words(seen: Congestion): Node[] {
    const { run } = this;
    const names = (flows: number[]) => {
      const few = flows.slice(0, 6).map((flow) => `${run.flows[flow].name}${flows.length <= 3 && run.has("flow_samples") ? ` (${this.fate(flow, seen.at)})` : ""}`).join(", ");
      return flows.length > 6 ? `${few} and ${flows.length - 6} more` : few;
    };
    const directions = (count: number) => `${count} ${count === 1 ? "link" : "links"}`;
    const text: Node[] = [el("b", {}, `${showTime(seen.at)}: `)];
    const add = (part: string, kind = "") => text.push(kind === "" ? document.createTextNode(part) : el("span", { class: kind }, part));
    const named = ({ port, class: of }: Blocked) => run.directionOf(port, of);
    const down = [...new Set(seen.failed.map((port) => [run.ports[port].node, run.ports[port].peerNode].sort((a, b) => a - b).map((node) => run.nodes[node].name).join(" \u2013 ")))];
    if (down.length > 0) add(`${down.slice(0, 3).join(", ")}${down.length > 3 ? ` and ${down.length - 3} more` : ""} ${down.length === 1 ? "has" : "have"} failed; `, "failed");
    if (seen.trees.length === 0 && seen.stray.length === 0 && seen.circle.length === 0) {
      const { waiting } = seen.state;
      const longest = waiting.indexOf(waiting.reduce((a, b) => Math.max(a, b), 0));
      const queue = longest >= 0 && waiting[longest] > 0 ? `longest queue: ${show(waiting[longest], "size", 3)} at ${run.ports[longest].direction}` : "";
      if (run.lossy()) add(queue === "" ? "all queues are empty." : `${queue}.`);
      else add(`no link is blocked${queue === "" ? "" : `; ${queue}`}.`);
    }
    if (!seen.exact && seen.trees.length + seen.circle.length > 0) add("estimated from samples: ");
    seen.trees.slice(0, 3).forEach((tree, i) => {
      if (i > 0) add(" ");
      const direction = run.directionOf(tree.root, tree.class);
      const why = tree.receiver ? ", blocked by the receiver" : seen.failed.includes(tree.root) ? ", whose link has failed" : "";
      add(`root ${direction}${why}`, "root");
      add(`, queue ${show(seen.state.waiting[tree.root], "size", 3)}, blocks ${directions(tree.directions.length)}`);
      if (tree.victims.length > 0) {
        add("; ");
        add(`${tree.victims.length === 1 ? "victim" : "victims"}: ${names(tree.victims)}`, "victim");
      }
      add(".");
    });
    if (seen.trees.length > 3) add(` ${seen.trees.length - 3} smaller ${seen.trees.length === 4 ? "tree is" : "trees are"} not listed.`);
    const without = !seen.known ? "blocked; this report has no room for the roots" : seen.exact ? "blocked until credits or a resume arrive" : "blocked, no root found";
    if (seen.circle.length > 0) {
      add(" ");
      add(`deadlock: ${seen.circle.map(named).join(", ")} wait for each other in a cycle.`, "root");
    } else if (seen.stray.length > 0 && seen.stray.length <= 3) {
      const strays = seen.stray.map((direction) => {
        const of = run.usedClasses.size > 1 ? `${run.className(direction.class)}, ` : "";
        return `${run.ports[direction.port].direction} (${of}${digits(this.reader.blockedIn(seen.state, direction) * 100, 2)} % of the last four samples)`;
      });
      add(`${seen.trees.length > 0 ? " " : ""}${without}: ${strays.join(", ")}.`);
    } else if (seen.stray.length > 0) add(`${seen.trees.length > 0 ? " " : ""}${without}: ${directions(new Set(seen.stray.map(({ port }) => port)).size)}.`);
    const victims = new Set(seen.trees.flatMap((tree) => tree.victims));
    for (const flow of this.followed) {
      const { name, start, end } = run.flows[flow];
      if (run.has("flow_samples") && !victims.has(flow) && start < seen.at && end > seen.at - run.sample) add(` ${name}: ${this.fate(flow, seen.at)}.`);
    }
    return text;
  }

  /** What a flow gets now, and what it should. */
  private fate(flow: number, at: number): string {
    if (!this.run.has("flow_samples")) return "";
    const fair = this.reader.shareOf(flow, at);
    return `throughput ${show(this.reader.rateOf(flow, at), "rate", 3)}${fair === null ? "" : `, fair share ${show(fair, "rate", 3)}`}`;
  }

  height(width: number): number {
    const most = this.compact ? 400 : this.run.nodes.length > 150 ? 600 : 480;
    const least = this.compact ? 300 : 240;
    return Math.max(least, Math.min(most, width / this.layout.aspect));
  }

  private dense(): boolean {
    return this.run.nodes.length > 150;
  }

  private project(surface: Surface): void {
    const { left, right, top, bottom } = this.bounds;
    const named = this.run.nodes.length <= 60;
    const foot = this.foot(surface.width);
    // Room for the longest name beside its host.
    const longest = Math.max(...this.run.nodes.map((node, i) => (node.host && (this.layout.side[i] === "left" || this.layout.side[i] === "right") ? node.name.length : 0)));
    const beside = longest * 6.6 + 16 + (this.tellsVictims(surface.width) ? 56 : 0);
    const [padX, padY] = named ? [Math.min(surface.width * 0.25, Math.max(surface.width < NARROW ? 20 : 40, beside)), 34] : [14, 16];
    const wide = Math.max(1e-9, right - left);
    const tall = Math.max(1e-9, bottom - top);
    let fitX = (surface.width - 2 * padX) / wide;
    let fitY = (surface.height - 2 * padY - foot) / tall;
    if (this.layout.kind === "map" || this.layout.kind === "ring") fitX = fitY = Math.min(fitX, fitY);
    else fitX = Math.min(fitX, 420);
    fitY = Math.min(fitY, 420);
    const [mx, my] = [surface.width / 2, (surface.height - foot) / 2];
    this.places = this.run.nodes.map((_, i) => ({
      x: mx + ((this.layout.xs[i] - (left + right) / 2) * fitX + this.shift.x) * this.zoom,
      y: my + ((this.layout.ys[i] - (top + bottom) / 2) * fitY + this.shift.y) * this.zoom,
    }));
  }

  /** A direction's two ends, beside the middle of its link so that both directions are seen. */
  private ends(port: number, aside: number): [number, number, number, number] {
    const { node, peerNode } = this.run.ports[port];
    const [a, b] = [this.places[node], this.places[peerNode]];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [nx, ny] = [(-(b.y - a.y) / length) * aside, ((b.x - a.x) / length) * aside];
    const trunk = this.cableShift(port);
    const [tx, ty] = [(-(b.y - a.y) / length) * trunk, ((b.x - a.x) / length) * trunk];
    return [a.x + nx + tx, a.y + ny + ty, b.x + nx + tx, b.y + ny + ty];
  }

  private readonly shifts = new Map<number, number>();

  /** Parallel cables lie side by side. */
  private cableShift(port: number): number {
    const known = this.shifts.get(port);
    if (known !== undefined) return known;
    const { node, peerNode } = this.run.ports[port];
    const alike = this.run.nodes[node].ports.filter((other) => this.run.ports[other].peerNode === peerNode);
    const place = alike.indexOf(port);
    // Seen from the other end the same shift has the other sign.
    const shift = (place - (alike.length - 1) / 2) * 11 * (node < peerNode ? 1 : -1);
    this.shifts.set(port, alike.length > 1 ? shift : 0);
    return this.shifts.get(port)!;
  }

  private isTrunk(port: number): boolean {
    const { nodes, ports } = this.run;
    return !nodes[ports[port].node].host && !nodes[ports[port].peerNode].host;
  }

  /** Sizes in pixels; the directions between switches are wider by a factor where there is room. */
  private sizes(): { aside: number; direction: number; host: number; node: number; trunk: number } {
    const count = this.run.nodes.length;
    const grow = Math.sqrt(this.zoom);
    if (count > 600) return { aside: 0.7 * grow, direction: 1.1 * grow, host: 1.5 * grow, node: 3.2 * grow, trunk: 1 };
    if (count > 150) return { aside: 1.2 * grow, direction: 1.7 * grow, host: 2.4 * grow, node: 5 * grow, trunk: 1 };
    if (count > 40) return { aside: 2.2, direction: 3, host: 4, node: 8, trunk: 1 };
    return { aside: 3, direction: 4, host: 5.5, node: 11, trunk: 1.6 };
  }

  paint(surface: Surface, of: Theme, forFile: boolean): void {
    this.project(surface);
    this.legend(surface, of);
    const seen = this.seen;
    if (!seen) return;
    const { ports } = this.run;
    const size = this.sizes();
    const ends = ports.map((_, port) => this.ends(port, this.isTrunk(port) ? size.aside * size.trunk : size.aside));
    const wide = (port: number) => (this.isTrunk(port) ? size.direction * size.trunk : size.direction);
    this.glow(surface, of, seen, ends, wide);
    if (ports.length > MANY && !forFile) {
      surface.image(0, 0, surface.width, surface.height, this.bitmapOf(ends, surface).paint(seen.state.busy, of));
    } else {
      const strength = (shade: number) => (ports.length > MANY ? 0.1 + 0.45 * (shade / SHADES) : 1);
      for (const trunk of [false, true]) {
        const shades: number[][][] = Array.from({ length: SHADES + 1 }, () => []);
        for (let port = 0; port < ports.length; port++) {
          if (this.isTrunk(port) === trunk) shades[Math.round(Math.min(1, seen.state.busy[port]) * SHADES)].push(ends[port]);
        }
        const width = trunk ? size.direction * size.trunk : size.direction;
        shades.forEach((lines, shade) => lines.length > 0 && surface.lines(lines, { colour: loadColour(shade / SHADES, of), width, alpha: strength(shade) }));
      }
    }
    this.held(surface, of, seen, ends, wide);
    this.failed(surface, of, seen, ends, wide);
    if (!this.dense() || this.zoom > 2.5) this.fills(surface, of, seen, ends, size);
    this.victims(surface, of, seen, size);
    const labels = new Labels(surface.width, surface.height - this.foot(surface.width));
    this.nodesDrawn(surface, of, seen, size, labels);
    this.roots(surface, of, seen, ends, size, labels);
    labels.draw(surface);
    if (!forFile && this.hovered !== null) surface.line(ends[this.hovered], { colour: of.ink, width: size.direction + 6, alpha: 0.22 });
    if (this.selected !== null) surface.line(ends[this.selected], { colour: of.ink, width: 1.5, dash: [3, 3] });
  }

  private bitmap: { key: string; of: DirectionBitmap } | null = null;

  /** The pixels of all directions; found anew when the drawing moves. */
  private bitmapOf(ends: number[][], surface: Surface): DirectionBitmap {
    const key = [surface.width, surface.height, this.zoom, this.shift.x, this.shift.y, window.devicePixelRatio].join(" ");
    if (this.bitmap?.key !== key) this.bitmap = { key, of: new DirectionBitmap(ends, surface.width, surface.height, window.devicePixelRatio || 1) };
    return this.bitmap.of;
  }

  /** The tree lies under its directions, the wider the nearer to the root. */
  private glow(surface: Surface, of: Theme, seen: Congestion, ends: number[][], direction: (port: number) => number): void {
    for (const tree of seen.trees) {
      const wide = (port: number, depth: number) => direction(port) + Math.max(5, 14 - depth * 2) * (this.dense() ? 0.35 : 1);
      surface.line(ends[tree.root], { colour: of.root, width: wide(tree.root, 0), alpha: 0.35, round: true });
      for (const { port, depth } of tree.directions) surface.line(ends[port], { colour: of.pause, width: wide(port, depth), alpha: 0.3, round: true });
    }
  }

  private held(surface: Surface, of: Theme, seen: Congestion, ends: number[][], direction: (port: number) => number): void {
    const held = new Set([...seen.trees.flatMap((tree) => tree.directions), ...seen.stray, ...seen.circle].map(({ port }) => port));
    const wide = (port: number) => Math.max(direction(port), this.dense() ? 2.5 : 4);
    const circle = new Set(seen.circle.map(({ port }) => port));
    for (const port of held) {
      surface.line(ends[port], { colour: circle.has(port) ? of.root : of.pause, width: wide(port), dash: this.dense() ? [3, 2] : [7, 5] });
    }
    for (const tree of seen.trees) surface.line(ends[tree.root], { colour: of.root, width: wide(tree.root) });
  }

  /** A cable that is down is neither idle nor busy: it is broken, with a cross on it. */
  private failed(surface: Surface, of: Theme, seen: Congestion, ends: number[][], direction: (port: number) => number): void {
    for (const port of seen.failed) {
      surface.line(ends[port], { colour: of.paper, width: direction(port) + 1.5 });
      surface.line(ends[port], { colour: of.failed, width: Math.max(1.2, direction(port) * 0.5), dash: [2, 4] });
      if (this.run.ports[port].peerPort < port) continue;
      const [x, y] = [(ends[port][0] + ends[port][2]) / 2, (ends[port][1] + ends[port][3]) / 2];
      cross(surface, x, y, this.dense() ? 4 : 7, of.failed, of.paper);
    }
  }

  /** What waits at the foot of a direction, and what the far buffer holds at its head: the tailback itself. */
  private fills(surface: Surface, of: Theme, seen: Congestion, ends: number[][], size: { node: number; host: number; direction: number; trunk: number }): void {
    const piece = (line: number[], from: number, to: number): number[] => {
      const [dx, dy] = [line[2] - line[0], line[3] - line[1]];
      return [line[0] + dx * from, line[1] + dy * from, line[0] + dx * to, line[1] + dy * to];
    };
    const { ports, nodes } = this.run;
    // By the width of their directions.
    const waiting = new Map<number, number[][]>();
    const holding = new Map<number, number[][]>();
    const put = (lines: Map<number, number[][]>, port: number, line: number[]) => {
      const width = this.isTrunk(port) ? size.direction * size.trunk : size.direction;
      const known = lines.get(width);
      if (known) known.push(line);
      else lines.set(width, [line]);
    };
    ends.forEach((line, port) => {
      const length = Math.hypot(line[2] - line[0], line[3] - line[1]) || 1;
      const radius = (node: number) => ((nodes[node].host ? size.host : size.node) + 2) / length;
      const room = 1 - radius(ports[port].node) - radius(ports[port].peerNode);
      const out = this.mostWaiting > 0 ? Math.min(1, seen.state.waiting[port] / this.mostWaiting) : 0;
      const near = radius(ports[port].node);
      if (out > 0.01) put(waiting, port, piece(line, near, near + out * 0.42 * room));
      const fill = seen.state.fill[ports[port].peerPort];
      const far = 1 - radius(ports[port].peerNode);
      if (fill > 0.01) put(holding, port, piece(line, far - fill * 0.3 * room, far));
    });
    const bars = (lines: Map<number, number[][]>, colour: string, more: number) => {
      for (const [width, group] of lines) {
        surface.lines(group, { colour: of.paper, width: width + more + 1.5 });
        surface.lines(group, { colour, width: width + more });
      }
    };
    bars(holding, of.buffer, 1.5);
    bars(waiting, of.queue, 2.5);
  }

  private victims(surface: Surface, of: Theme, seen: Congestion, size: { aside: number; direction: number; trunk: number }): void {
    // The ways of many would hide the tree.
    const flows = [...new Set(seen.trees.flatMap((tree) => tree.victims))].slice(0, 12);
    const directions = new Set(flows.flatMap((flow) => this.run.flows[flow].path ?? []));
    const beside = (port: number) => (size.aside + size.direction * 0.5) * (this.isTrunk(port) ? size.trunk : 1) + (this.dense() ? 1 : 3);
    surface.lines([...directions].map((port) => this.ends(port, beside(port))), { colour: of.victim, width: this.dense() ? 1 : 2, dash: [2, 3] });
  }

  private nodesDrawn(surface: Surface, of: Theme, seen: Congestion, size: { host: number; node: number }, labels: Labels): void {
    const { nodes, flows, ports } = this.run;
    const suffering = new Set(seen.trees.flatMap((tree) => tree.victims).flatMap((flow) => [flows[flow].source, flows[flow].destination]));
    const ringed = new Set(seen.trees.slice(0, RINGS).map(({ root }) => ports[root].node));
    const named = nodes.length <= 60 || this.zoom > 4;
    nodes.forEach((node, i) => {
      const { x, y } = this.places[i];
      const hurt = suffering.has(node.name);
      if (node.host) {
        surface.circle(x, y, size.host, hurt ? of.victim : of.node, this.dense() ? undefined : { colour: of.paper, width: 1.5 });
        if (named) this.hostName(of, i, hurt, size.host, labels);
        return;
      }
      surface.rect(x - size.node - 1, y - size.node - 1, 2 * size.node + 2, 2 * size.node + 2, of.paper);
      surface.rect(x - size.node, y - size.node, 2 * size.node, 2 * size.node, of.node);
      if (!named) return;
      labels.avoid(x, y, size.node);
      if (node.name.length <= 2 && size.node >= 8) surface.text(x, y, node.name, { size: 11, anchor: "middle", bold: true, fill: of.paper });
      else this.switchName(of, i, size.node + (ringed.has(i) ? RING : 0), labels);
    });
  }

  /** A switch is named above it, or where else there is room. */
  private switchName(of: Theme, node: number, radius: number, labels: Labels): void {
    const { x, y } = this.places[node];
    const at = (dx: number, dy: number, anchor: "start" | "middle" | "end"): Candidate => ({
      x: x + dx,
      y: y + dy,
      text: this.run.nodes[node].name,
      style: { size: 11, anchor, bold: true, fill: of.ink },
      ground: { colour: of.paper, alpha: 0.75 },
    });
    labels.add(1, at(0, -radius - 8, "middle"), at(0, radius + 9, "middle"), at(radius + 4, 0, "start"), at(-radius - 4, 0, "end"));
  }

  private hostName(of: Theme, node: number, hurt: boolean, radius: number, labels: Labels): void {
    const { x, y } = this.places[node];
    const style = { size: 11, fill: hurt ? of.victim : of.faint, bold: hurt } as const;
    const { name } = this.run.nodes[node];
    const at = (text: string, dx: number, dy: number, anchor: "start" | "middle" | "end", upright = false): Candidate => ({
      x: x + dx,
      y: y + dy,
      text,
      style: upright ? { ...style, anchor, upright } : { ...style, anchor },
    });
    const crowded = this.run.nodes.length > 40;
    const side = this.layout.side[node];
    const places = (text: string): Candidate[] => {
      if (side === "left") return [at(text, -radius - 4, 0, "end")];
      if (side === "right") return [at(text, radius + 4, 0, "start")];
      if (crowded && text.length > 2) return [at(text, 0, radius + 6, "end", true)];
      const lower = this.crowdedRow(node) && this.rowOf(node).indexOf(node) % 2 === 1 ? 11 : 0;
      const down = radius + 8 + lower;
      const own = side === "above" ? -down : down;
      return [at(text, 0, own, "middle"), at(text, radius + 4, 0, "start"), at(text, -radius - 4, 0, "end"), at(text, 0, -own, "middle")];
    };
    // Said in words once, where there is room for it.
    const told = hurt && this.tellsVictims(this.plot.width) ? places(`${name} (victim)`).slice(0, 1) : [];
    labels.add(hurt ? 0 : 3, ...told, ...places(name));
  }

  /** Whether there is room to say in words who is a victim. */
  private tellsVictims(width: number): boolean {
    return width >= NARROW && this.run.nodes.length <= 40 && this.run.flows.length <= 60;
  }

  private readonly rows = new Map<number, number[]>();

  /** Hosts that stand at one height, from left to right. */
  private rowOf(node: number): number[] {
    const height = Math.round(this.layout.ys[node] * 100);
    const known = this.rows.get(height);
    if (known) return known;
    const row = this.run.nodes.map((_, i) => i).filter((i) => this.run.nodes[i].host && Math.round(this.layout.ys[i] * 100) === height);
    row.sort((a, b) => this.layout.xs[a] - this.layout.xs[b]);
    this.rows.set(height, row);
    return row;
  }

  /** Whether the names of a row would run into each other. */
  private crowdedRow(node: number): boolean {
    const row = this.rowOf(node);
    const reach = (i: number) => this.run.nodes[i].name.length * 3.3 + 2;
    return row.some((i, at) => at > 0 && this.places[i].x - this.places[row[at - 1]].x < reach(i) + reach(row[at - 1]));
  }

  private roots(surface: Surface, of: Theme, seen: Congestion, ends: number[][], size: { node: number }, labels: Labels): void {
    seen.trees.slice(0, RINGS).forEach((tree) => {
      const line = ends[tree.root];
      if (this.run.nodes.length > 600) surface.circle((line[0] + line[2]) / 2, (line[1] + line[3]) / 2, 5, null, { colour: of.root, width: 2 });
      else surface.circle(line[0], line[1], size.node + RING, null, { colour: of.root, width: 2.5 });
      // Where roots cross, their names stand apart.
      const at = (part: number): Candidate => ({
        x: line[0] + (line[2] - line[0]) * part,
        y: line[1] + (line[3] - line[1]) * part - 13,
        text: "root",
        style: { size: 11, anchor: "middle", bold: true, fill: of.root },
        ground: { colour: of.paper, alpha: 0.8 },
      });
      labels.add(2, ...[0.5, 0.62, 0.38, 0.74, 0.26].map(at));
    });
  }

  /** What the colours mean: only those that can occur. */
  private legendParts(of: Theme): { words: string; wide: number; draw: (surface: Surface, x: number, y: number) => void }[] {
    const parts: ReturnType<NetworkDrawing["legendParts"]> = [];
    const add = (words: string, wide: number, draw: (surface: Surface, x: number, y: number) => void) => parts.push({ words, wide, draw });
    const sample = (colour: string, words: string, width: number, dash?: number[]) =>
      add(words, 22, (surface, x, y) => surface.line([x, y, x + 18, y], dash ? { colour, width, dash } : { colour, width }));
    if (this.run.has("links")) {
      add("idle to busy", 48, (surface, x, y) => {
        for (let i = 0; i <= 10; i++) surface.rect(x + i * 4, y - 4, 4, 8, loadColour(i / 10, of));
      });
    }
    if (this.run.has("queues")) {
      sample(of.queue, "output queue", 6);
      sample(of.buffer, "input buffer at the far end", 5);
    }
    if (!this.run.lossy()) {
      sample(of.pause, "blocked", 4, [5, 3]);
      sample(of.root, "root", 4);
      sample(of.victim, "victim", 2, [2, 3]);
    }
    if (this.run.failures().length > 0) {
      add("failed", 22, (surface, x, y) => {
        surface.line([x, y, x + 18, y], { colour: of.failed, width: 2, dash: [2, 4] });
        cross(surface, x + 9, y, 4, of.failed, of.paper);
      });
    }
    return parts;
  }

  /** Where the parts of the legend stand: as many lines as they need. */
  private legendPlaces(width: number, of: Theme): { x: number; line: number; part: ReturnType<NetworkDrawing["legendParts"]>[number] }[] {
    let [x, line] = [10, 0];
    return this.legendParts(of).map((part) => {
      const wide = part.wide + part.words.length * 5.7 + 12;
      if (x > 10 && x + wide > width - 4) [x, line] = [10, line + 1];
      const place = { x, line, part };
      x += wide;
      return place;
    });
  }

  /** The height of the legend. */
  private foot(width: number): number {
    return 18 * ((this.legendPlaces(width, LIGHT).at(-1)?.line ?? 0) + 1);
  }

  private legend(surface: Surface, of: Theme): void {
    const places = this.legendPlaces(surface.width, of);
    const lines = (places.at(-1)?.line ?? 0) + 1;
    for (const { x, line, part } of places) {
      const y = surface.height - 9 - (lines - 1 - line) * 17;
      part.draw(surface, x, y);
      surface.text(x + part.wide, y, part.words, { size: 10.5, fill: of.faint });
    }
  }

  private nearest(event: PointerEvent): number | null {
    const box = this.plot.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const { aside, trunk } = this.sizes();
    let best: number | null = null;
    // A finger is less exact than a mouse.
    let near = event.pointerType === "touch" ? 20 : 9;
    for (let port = 0; port < this.run.ports.length; port++) {
      const [ax, ay, bx, by] = this.ends(port, this.isTrunk(port) ? aside * trunk : aside);
      const [dx, dy] = [bx - ax, by - ay];
      const part = Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
      const far = Math.hypot(px - ax - dx * part, py - ay - dy * part);
      if (far < near) [best, near] = [port, far];
    }
    return best;
  }

  /** What is known of a direction now. */
  describe(port: number): string {
    const { ports, network } = this.run;
    if (!this.seen) return ports[port].direction;
    const { state } = this.seen;
    const { peerPort, peerNode, rate, direction } = ports[port];
    const frames = this.run.bufferOf(peerNode)?.frames ?? false;
    const held = frames ? `${state.held[peerPort]} frames` : show(state.held[peerPort], "size");
    const room = this.reader.roomOf(peerPort);
    const of = room > 0 && network ? ` of ${frames ? room : show(room, "size", 3)}` : "";
    const back = this.reader.heldBack(state, port);
    return [
      `${direction}, ${show(rate, "rate")}`,
      this.run.has("links") ? `utilisation: ${digits(state.busy[port] * 100, 3)} %` : "utilisation: not recorded",
      `output queue: ${show(state.waiting[port], "size")}`,
      `input buffer at the far end: ${held}${of}`,
      this.seen.failed.includes(port) ? "the link has failed" : back > 0 ? `blocked: ${digits(back * 100, 3)} % of the time${this.inClasses(state, port)}` : "not blocked",
    ].join("\n");
  }

  /** The classes in which a link is blocked, where flows are of several. */
  private inClasses(state: Congestion["state"], port: number): string {
    if (this.run.usedClasses.size < 2) return "";
    return ` (${this.reader.blockedClasses(state, port).map((of) => this.run.className(of)).join(", ")})`;
  }

  private listen(): void {
    const { canvas, box } = this.plot;
    let grip: { x: number; y: number; moved: boolean } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      grip = { x: event.clientX, y: event.clientY, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (grip && event.buttons > 0 && (grip.moved || Math.hypot(event.clientX - grip.x, event.clientY - grip.y) > 4)) {
        this.shift.x += (event.clientX - grip.x) / this.zoom;
        this.shift.y += (event.clientY - grip.y) / this.zoom;
        grip = { x: event.clientX, y: event.clientY, moved: true };
        this.plot.later();
        return;
      }
      this.hovered = this.nearest(event);
      this.tip.hidden = this.hovered === null;
      if (this.hovered !== null) {
        this.tip.textContent = this.describe(this.hovered);
        const frame = box.getBoundingClientRect();
        const left = Math.min(event.clientX - frame.left + 14, frame.width - 210);
        this.tip.style.left = `${Math.max(0, left)}px`;
        this.tip.style.top = `${event.clientY - frame.top + 14}px`;
      }
      this.plot.later();
    });
    canvas.addEventListener("pointerup", (event) => {
      const port = grip && !grip.moved ? this.nearest(event) : null;
      grip = null;
      if (port !== null) this.select(port);
    });
    canvas.addEventListener("pointerleave", () => {
      this.hovered = null;
      this.tip.hidden = true;
      this.plot.later();
    });
    const zoomBy = (factor: number) => {
      this.zoom = Math.min(30, Math.max(1, this.zoom * factor));
      if (this.zoom === 1) this.shift = { x: 0, y: 0 };
      this.plot.later();
    };
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
        event.preventDefault();
        const factor = (event.deltaY || event.deltaX) > 0 ? 1 / 1.25 : 1.25;
        const frame = canvas.getBoundingClientRect();
        const [px, py] = [event.clientX - frame.left - frame.width / 2, event.clientY - frame.top - (frame.height - this.foot(frame.width)) / 2];
        const before = this.zoom;
        zoomBy(factor);
        // What lies under the pointer stays there.
        this.shift.x += px / this.zoom - px / before;
        this.shift.y += py / this.zoom - py / before;
        if (this.zoom === 1) this.shift = { x: 0, y: 0 };
      },
      { passive: false },
    );
    canvas.addEventListener("dblclick", () => {
      this.zoom = 1;
      zoomBy(1);
    });
    canvas.addEventListener("keydown", (event) => {
      const step = 40 / this.zoom;
      const count = this.run.ports.length;
      const acts: Record<string, () => void> = {
        "+": () => zoomBy(1.25),
        "=": () => zoomBy(1.25),
        "-": () => zoomBy(0.8),
        "0": () => zoomBy(1e-9),
        ArrowLeft: () => (this.shift.x += step),
        ArrowRight: () => (this.shift.x -= step),
        ArrowUp: () => (this.shift.y += step),
        ArrowDown: () => (this.shift.y -= step),
        n: () => this.select(((this.selected ?? -1) + 1) % count),
        p: () => this.select(((this.selected ?? 0) - 1 + count) % count),
      };
      const act = acts[event.key];
      if (!act) return;
      event.preventDefault();
      act();
      this.plot.later();
    });
    canvas.title = "click a link for its series · drag: move · ctrl-wheel, + and -: zoom · n, p: next and previous link";
  }

  select(port: number): void {
    this.selected = port;
    this.onSelect(port);
    this.plot.later();
  }

  /** The directions as they are now. */
  csv(): string {
    const { ports } = this.run;
    const rows: (string | number)[][] = [
      ["time (s)", "port", "link", "utilisation", "paused", "without credits", "blocked", "output queue (B)", "input buffer at the far end", "root", "depth in tree", "failed"],
    ];
    if (!this.seen) return csvLines(rows);
    const { state, at, trees } = this.seen;
    const failed = new Set(this.seen.failed);
    const depth = new Map(trees.flatMap((tree) => [[tree.root, [tree.root, 0]] as const, ...tree.directions.map((direction) => [direction.port, [tree.root, direction.depth]] as const)]));
    ports.forEach((port, i) => {
      const found = depth.get(i);
      rows.push([
        at / 1e12,
        port.name,
        port.direction,
        state.busy[i],
        state.paused[i],
        state.starved[i],
        this.reader.heldBack(state, i),
        state.waiting[i],
        state.held[port.peerPort],
        found ? ports[found[0]].direction : "",
        found ? found[1] : "",
        failed.has(i) ? 1 : 0,
      ]);
    });
    return csvLines(rows);
  }
}
