// The time of a flow by cause: a stacked bar, and the same over time.
import { across, areaOf, drawAxes, up, type Area, type Scale } from "./axes";
import { el } from "./dom";
import { digits, showTime } from "./format";
import { Markers, type Mark } from "./markers";
import { csvLines, Plot, type Painter } from "./plot";
import type { Run } from "./run";
import type { Surface } from "./surface";
import { onTheme, theme, type Theme } from "./theme";
import type { CauseAbout, WhyFlow } from "./types";

/** Causes with a colour of their own, beside the path. */
const COLOURS = 7;

export interface Part {
  name: string;
  /** Place among the colours; -1 is the path, -2 all that has none. */
  slot: number;
  picoseconds: number;
  keys: Set<string>;
}

const keyOf = (cause: string, root: string | null, port: number | null) => `${cause} ${root ?? ""} ${port ?? ""}`;

function nameOf({ cause, root, link }: CauseAbout): string {
  const what = root === null ? cause : `${cause} by ${root}`;
  return link === null ? what : `${what}: ${link}`;
}

/** The causes of a flow in the order of their time, the path first; small ones together. */
export function partsOf(flow: WhyFlow): Part[] {
  const parts: Part[] = [];
  const rest: Part = { name: "other causes", slot: -2, picoseconds: 0, keys: new Set() };
  const isPath = ({ cause }: CauseAbout) => cause === "path";
  for (const cause of [...flow.causes.filter(isPath), ...flow.causes.filter((cause) => !isPath(cause))]) {
    const slot = isPath(cause) ? -1 : parts.filter(({ slot }) => slot >= 0).length;
    const key = keyOf(cause.cause, cause.root, cause.port);
    if (slot < COLOURS) parts.push({ name: nameOf(cause), slot, picoseconds: cause.picoseconds, keys: new Set([key]) });
    else {
      rest.picoseconds += cause.picoseconds;
      rest.keys.add(key);
    }
  }
  return rest.picoseconds > 0 ? [...parts, rest] : parts;
}

export function colourOf(slot: number, of: Theme): string {
  return slot === -1 ? of.idle : slot === -2 ? of.faint : of.palette[(slot + 1) % of.palette.length];
}

/** A bar of the whole time of a flow, with a legend. */
export function causeBar(flow: WhyFlow, parts: Part[]): HTMLElement {
  const bar = el("div", { class: "causebar", role: "img", aria: { label: `time of ${flow.flow} by cause` } });
  const legend = el("ul", { class: "causelegend" });
  const paints: (() => void)[] = [];
  for (const { name, slot, picoseconds } of parts) {
    const share = picoseconds / Math.max(1, flow.picoseconds);
    const text = `${name}: ${showTime(picoseconds, 3)} (${digits(share * 100, 3)} %)`;
    const piece = el("span", { title: text });
    piece.style.width = `${share * 100}%`;
    const swatch = el("span", { class: "swatch" });
    bar.append(piece);
    legend.append(el("li", {}, swatch, text));
    paints.push(() => {
      piece.style.background = colourOf(slot, theme());
      swatch.style.background = colourOf(slot, theme());
    });
  }
  const paint = () => paints.forEach((act) => act());
  paint();
  onTheme(paint, bar);
  return el("div", {}, bar, legend);
}

interface Slice {
  from: number;
  to: number;
  /** Picoseconds of each part. */
  spans: number[];
}

export class CauseCourse implements Painter {
  readonly title: string;
  readonly plot: Plot;
  readonly root: HTMLElement;
  private readonly slices: Slice[];
  private area: Area = { left: 0, top: 0, width: 1, height: 1 };
  private readonly markers: Markers;

  constructor(
    private readonly run: Run,
    flow: WhyFlow,
    private readonly parts: Part[],
  ) {
    this.title = `${flow.flow}: causes over time`;
    this.slices = slicesOf(run, flow, parts);
    this.plot = new Plot(this);
    this.markers = new Markers(this.plot.box);
    this.root = el(
      "section",
      { class: "chart causecourse" },
      el("header", {}, el("h3", {}, "Over time"), el("span", { class: "note" }, "part of each interval; click to show that instant in the network"), el("span", { class: "tools" }, this.plot.exports())),
      this.plot.box,
    );
    const { link } = run;
    link.onView(() => this.plot.later(), this.root);
    link.onPoint(() => this.mark(), this.root);
    const { canvas } = this.plot;
    const timeAt = (event: MouseEvent) => link.from + Math.min(1, Math.max(0, (event.clientX - canvas.getBoundingClientRect().left - this.area.left) / this.area.width)) * (link.to - link.from);
    canvas.addEventListener("click", (event) => link.setNow(timeAt(event)));
    canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && link.point(timeAt(event)));
    canvas.addEventListener("pointerleave", () => link.point(null));
  }

  get empty(): boolean {
    return this.slices.length === 0;
  }

  height(): number {
    return 190;
  }

  paint(surface: Surface, of: Theme, forFile: boolean): void {
    const area = areaOf(surface);
    if (!forFile) this.area = area;
    const { link } = this.run;
    const x: Scale = { low: link.from, high: link.to, quantity: "time", label: "time", base: 1e-12 };
    const y: Scale = { low: 0, high: 1, quantity: "fraction", label: "part of the interval" };
    drawAxes(surface, of, area, x, y);
    for (const { from, to, spans } of this.slices) {
      const [begin, end] = [Math.max(from, link.from), Math.min(to, link.to)];
      if (end <= begin) continue;
      const [left, right] = [across(area, x, begin), across(area, x, end)];
      let below = 0;
      spans.forEach((span, place) => {
        if (span === 0) return;
        const share = span / (to - from);
        const [high, low] = [up(area, y, below + share), up(area, y, below)];
        surface.rect(left, high, Math.max(0.5, right - left), low - high, colourOf(this.parts[place].slot, of));
        below += share;
      });
    }
    if (!forFile) this.mark();
  }

  /** Shows the instant of the network and the pointer. */
  private mark(): void {
    const { from, to, now, cursor } = this.run.link;
    const { left, width } = this.area;
    const place = (at: number) => left + ((at - from) / (to - from)) * width;
    const marks: Mark[] = [{ kind: "instant", x: place(now) }];
    if (cursor !== null) marks.push({ kind: "pointer", x: place(cursor) });
    this.markers.show(this.area, marks);
  }

  csv(): string {
    const head = ["from (s)", "to (s)", ...this.parts.map(({ name }) => `${name} (s)`)];
    return csvLines([head, ...this.slices.map(({ from, to, spans }) => [from / 1e12, to / 1e12, ...spans.map((span) => span / 1e12)])]);
  }
}

/** The causes of a flow over time, by part. */
export function slicesOf(run: Run, flow: WhyFlow, parts: Part[]): Slice[] {
  const causes = run.texts("cause_samples", "cause");
  const roots = run.texts("cause_samples", "root");
  const slices = new Map<number, Slice>();
  for (const key of run.keys("cause_samples")) {
    const [number, cause, root, port] = key;
    if (number !== flow.number) continue;
    const of = keyOf(causes[cause] ?? "", roots[root] ?? null, port < 0 ? null : port);
    const place = parts.findIndex(({ keys }) => keys.has(of));
    if (place < 0) continue;
    const times = run.column("cause_samples", "time", ...key);
    const intervals = run.column("cause_samples", "interval", ...key);
    const spans = run.column("cause_samples", "span", ...key);
    times.forEach((to, i) => {
      const slice = slices.get(to) ?? { from: to - intervals[i], to, spans: parts.map(() => 0) };
      slices.set(to, slice);
      slice.spans[place] += spans[i];
    });
  }
  return [...slices.values()].sort((a, b) => a.to - b.to);
}
