// Curves over a quantity that is not time, such as distributions; each axis linear or logarithmic.
import { areaOf, type Area } from "./axes";
import { el } from "./dom";
import { digits, show, tickLabels, ticks, unitFor } from "./format";
import { csvLines, Plot, type Painter } from "./plot";
import type { Surface } from "./surface";
import { look, type Theme } from "./theme";
import type { Quantity } from "./types";

export interface Curve {
  name: string;
  /** Ascending. */
  xs: ArrayLike<number>;
  ys: ArrayLike<number>;
  /** Whether a value holds until the next point. */
  step?: boolean;
}

export interface CurveAxis {
  label: string;
  quantity: Quantity;
  /** Logarithmic, if its values span more than a decade and are above zero. */
  log?: boolean;
  range?: [number, number];
}

export interface Extent {
  low: number;
  high: number;
  log: boolean;
}

/** Values of a logarithmic axis: whole powers of ten, or 1, 2, 5 where these are few. */
export function decades(low: number, high: number): number[] {
  const found: number[] = [];
  const few = Math.log10(high / low) < 3;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of few ? [1, 2, 5] : [1]) {
      const value = factor * 10 ** power;
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
    }
  }
  return found;
}

export function extent(axis: CurveAxis, values: number[]): Extent {
  const [low, high] = axis.range ?? [Math.min(...values), Math.max(...values)];
  if (axis.log && low > 0 && high > low * 10) return { low: low / 1.05, high: high * 1.05, log: true };
  const bottom = axis.range || low < 0 ? low : 0;
  return { low: bottom, high: axis.range ? high : high > bottom ? high * 1.04 : bottom + 1, log: false };
}

export function part(of: Extent, value: number): number {
  const on = (number: number) => (of.log ? Math.log(Math.max(number, Number.MIN_VALUE)) : number);
  return (on(value) - on(of.low)) / (on(of.high) - on(of.low) || 1);
}

interface Marked {
  at: number[];
  labels: string[];
  text: string;
}

/** Values of an axis that are marked, and its name with the unit. */
export function marked(extent: Extent, axis: CurveAxis, count: number): Marked {
  const at = extent.log ? decades(extent.low, extent.high) : ticks(extent.low, extent.high, count);
  const [unit, factor] = unitFor(axis.quantity, extent.log ? Math.sqrt(extent.low * extent.high) : extent.high);
  const labels = extent.log ? at.map((value) => digits(value / factor, 3)) : tickLabels(at, factor);
  return { at, labels, text: unit === "" ? axis.label : `${axis.label} (${unit})` };
}

export class CurveChart implements Painter {
  readonly plot: Plot;
  readonly root: HTMLElement;

  constructor(
    readonly title: string,
    note: string,
    private readonly x: CurveAxis,
    private readonly y: CurveAxis,
    private readonly curves: Curve[],
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
      const area = this.area({ width: box.width, height: box.height } as Surface);
      const [across] = this.extents();
      const place = (event.clientX - box.left - area.left) / area.width;
      tip.hidden = place < 0 || place > 1;
      if (tip.hidden) return;
      const at = across.log ? across.low * (across.high / across.low) ** place : across.low + place * (across.high - across.low);
      const lines = this.curves.map((curve) => {
        let next = 0;
        while (next < curve.xs.length && curve.xs[next] <= at) next++;
        return next === 0 ? null : `${curve.name}: ${show(curve.ys[next - 1], this.y.quantity, 3)}`;
      });
      tip.textContent = [`${this.x.label} ${show(at, this.x.quantity, 3)}`, ...lines.filter((line) => line !== null)].join("\n");
      tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 190)}px`;
      tip.style.top = `${event.clientY - box.top + 12}px`;
    });
    this.plot.canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  }

  private extents(): [Extent, Extent] {
    const all = (of: (curve: Curve) => ArrayLike<number>) => this.curves.flatMap((curve) => Array.from(of(curve)));
    return [extent(this.x, all((curve) => curve.xs)), extent(this.y, all((curve) => curve.ys))];
  }

  height(width: number): number {
    return Math.max(220, Math.min(320, width * 0.45)) + this.rows(width) * 18;
  }

  private rows(width: number): number {
    const names = this.curves.length > 1 ? this.curves.reduce((sum, curve) => sum + 34 + curve.name.length * 6.4, 0) : 0;
    return names > 0 ? Math.ceil(names / Math.max(120, width - 80)) : 0;
  }

  private area(surface: Surface): Area {
    return areaOf(surface, 64, 42 + this.rows(surface.width) * 18, 8);
  }

  paint(surface: Surface, of: Theme): void {
    const area = this.area(surface);
    const [across, up] = this.extents();
    const left = (value: number) => area.left + part(across, value) * area.width;
    const top = (value: number) => area.top + area.height - part(up, value) * area.height;
    const bottom = area.top + area.height;
    const horizontal = marked(across, this.x, Math.max(2, area.width / 100));
    const vertical = marked(up, this.y, Math.max(2, area.height / 42));
    surface.lines(horizontal.at.map((value) => [left(value), area.top, left(value), bottom]), { colour: of.grid, width: 1 });
    surface.lines(vertical.at.map((value) => [area.left, top(value), area.left + area.width, top(value)]), { colour: of.grid, width: 1 });
    horizontal.at.forEach((value, i) => surface.text(left(value), bottom + 12, horizontal.labels[i], { size: 11, anchor: "middle", fill: of.faint }));
    vertical.at.forEach((value, i) => surface.text(area.left - 6, top(value), vertical.labels[i], { size: 11, anchor: "end", fill: of.faint }));
    surface.text(area.left + area.width / 2, bottom + 29, horizontal.text, { size: 12, anchor: "middle", fill: of.faint });
    surface.text(11, area.top + area.height / 2, vertical.text, { size: 12, anchor: "middle", fill: of.faint, upright: true });
    surface.line([area.left + 0.5, area.top, area.left + 0.5, bottom + 0.5, area.left + area.width, bottom + 0.5], { colour: of.faint, width: 1 });
    surface.clipped(area.left, area.top, area.width + 2, area.height + 2, () => {
      this.curves.forEach((curve, number) => {
        const { colour, dash } = look(number, of);
        const points: number[] = [];
        for (let i = 0; i < curve.xs.length; i++) {
          if (curve.step && i > 0) points.push(left(curve.xs[i]), top(curve.ys[i - 1]));
          points.push(left(curve.xs[i]), top(curve.ys[i]));
        }
        surface.line(points, { colour, width: 1.8, dash });
        if (curve.xs.length <= 24 && !curve.step) for (let i = 0; i < curve.xs.length; i++) surface.circle(left(curve.xs[i]), top(curve.ys[i]), 2.6, colour);
      });
    });
    if (this.curves.length < 2) return;
    let [x, y] = [area.left, bottom + 46];
    this.curves.forEach((curve, number) => {
      const width = 34 + curve.name.length * 6.4;
      if (x + width > surface.width && x > area.left) [x, y] = [area.left, y + 18];
      const { colour, dash } = look(number, of);
      surface.line([x, y, x + 18, y], { colour, width: 2, dash });
      surface.text(x + 23, y, curve.name, { size: 11, fill: of.ink });
      x += width;
    });
  }

  csv(): string {
    const rows: (string | number)[][] = [["curve", this.x.label, this.y.label]];
    for (const curve of this.curves) for (let i = 0; i < curve.xs.length; i++) rows.push([curve.name, curve.xs[i], curve.ys[i]]);
    return csvLines(rows);
  }
}
