// Points over two quantities, such as the candidates of a search over two goals; some are joined, some are marked.
import { areaOf, type Area } from "./axes";
import { extent, marked, part, type CurveAxis, type Extent } from "./curvechart";
import { el } from "./dom";
import { csvLines, Plot, type Painter } from "./plot";
import type { Surface } from "./surface";
import { look, type Theme } from "./theme";

export interface Dot {
  x: number;
  y: number;
  /** What is said of it. */
  text: string;
  /** Its kind, which is one of those of the chart. */
  kind: string;
  /** Whether a line joins it to the others of which this is true. */
  joined?: boolean;
}

/** A kind of points. */
export interface DotKind {
  name: string;
  /** Whether they are many and stand behind. */
  faint?: boolean;
}

export class ScatterChart implements Painter {
  readonly plot: Plot;
  readonly root: HTMLElement;

  constructor(
    readonly title: string,
    note: string,
    private readonly x: CurveAxis,
    private readonly y: CurveAxis,
    private readonly kinds: DotKind[],
    private readonly dots: Dot[],
  ) {
    this.plot = new Plot(this);
    this.root = el(
      "section",
      { class: "chart" },
      el("header", {}, el("h3", {}, title), el("span", { class: "note" }, note), el("span", { class: "tools" }, this.plot.exports())),
      this.plot.box,
    );
    const tip = el("div", { class: "tip" });
    tip.hidden = true;
    this.plot.box.append(tip);
    this.plot.canvas.addEventListener("pointermove", (event) => {
      const box = this.plot.canvas.getBoundingClientRect();
      const surface = { width: box.width, height: box.height } as Surface;
      const [left, top] = [event.clientX - box.left, event.clientY - box.top];
      const near = this.placed(surface)
        .map(({ dot, at }) => ({ dot, distance: Math.hypot(at[0] - left, at[1] - top) }))
        .sort((a, b) => a.distance - b.distance)[0];
      tip.hidden = !near || near.distance > 14;
      if (tip.hidden) return;
      tip.textContent = near.dot.text;
      tip.style.left = `${Math.min(left + 12, box.width - 190)}px`;
      tip.style.top = `${top + 12}px`;
    });
    this.plot.canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  }

  height(width: number): number {
    return Math.max(240, Math.min(340, width * 0.5));
  }

  private area(surface: Surface): Area {
    return areaOf(surface, 64, 60, 8);
  }

  private extents(): [Extent, Extent] {
    return [extent(this.x, this.dots.map((dot) => dot.x)), extent(this.y, this.dots.map((dot) => dot.y))];
  }

  private placed(surface: Surface): { dot: Dot; at: [number, number] }[] {
    const area = this.area(surface);
    const [across, up] = this.extents();
    return this.dots.map((dot) => ({
      dot,
      at: [area.left + part(across, dot.x) * area.width, area.top + area.height - part(up, dot.y) * area.height],
    }));
  }

  paint(surface: Surface, of: Theme): void {
    const area = this.area(surface);
    const [across, up] = this.extents();
    const bottom = area.top + area.height;
    const left = (value: number) => area.left + part(across, value) * area.width;
    const top = (value: number) => bottom - part(up, value) * area.height;
    const horizontal = marked(across, this.x, Math.max(2, area.width / 100));
    const vertical = marked(up, this.y, Math.max(2, area.height / 42));
    surface.lines(horizontal.at.map((value) => [left(value), area.top, left(value), bottom]), { colour: of.grid, width: 1 });
    surface.lines(vertical.at.map((value) => [area.left, top(value), area.left + area.width, top(value)]), { colour: of.grid, width: 1 });
    horizontal.at.forEach((value, i) => surface.text(left(value), bottom + 12, horizontal.labels[i], { size: 11, anchor: "middle", fill: of.faint }));
    vertical.at.forEach((value, i) => surface.text(area.left - 6, top(value), vertical.labels[i], { size: 11, anchor: "end", fill: of.faint }));
    surface.text(area.left + area.width / 2, bottom + 29, horizontal.text, { size: 12, anchor: "middle", fill: of.faint });
    surface.text(11, area.top + area.height / 2, vertical.text, { size: 12, anchor: "middle", fill: of.faint, upright: true });
    surface.line([area.left + 0.5, area.top, area.left + 0.5, bottom + 0.5, area.left + area.width, bottom + 0.5], { colour: of.faint, width: 1 });
    const placed = this.placed(surface);
    const joined = placed.filter(({ dot }) => dot.joined).sort((a, b) => a.at[0] - b.at[0]);
    if (joined.length > 1) surface.line(joined.flatMap(({ at }) => at), { colour: of.ink, width: 1.2, dash: [4, 3] });
    let x = area.left;
    this.kinds.forEach((kind, number) => {
      const own = placed.filter(({ dot }) => dot.kind === kind.name);
      const colour = kind.faint ? of.faint : look(number, of).colour;
      const radius = kind.faint ? 2.6 : 4.4;
      for (const { at } of own) surface.circle(at[0], at[1], radius, colour);
      if (own.length === 0) return;
      surface.circle(x + 5, bottom + 47, radius, colour);
      surface.text(x + 14, bottom + 47, kind.name, { size: 11, fill: of.ink });
      x += 32 + kind.name.length * 6.4;
    });
  }

  csv(): string {
    return csvLines([["kind", this.x.label, this.y.label], ...this.dots.map((dot) => [dot.kind, dot.x, dot.y])]);
  }
}
