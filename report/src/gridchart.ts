// What a grid of runs gives along one of its axes: lines with their confidence bands over numbers, else bars.
import { across, areaOf, drawAxes, fitted, up, type Area, type Scale } from "./axes";
import { el } from "./dom";
import { broken, show, tickLabels, ticks, unitFor } from "./format";
import { csvLines, Plot, type Painter } from "./plot";
import type { Surface } from "./surface";
import { look, onTheme, theme, type Theme } from "./theme";
import type { AxisValue, Quantity } from "./types";

export interface GridPoint {
  x: AxisValue;
  value: number;
  /** The 95 % interval of the mean; the value itself if there is none. */
  low: number;
  high: number;
  /** What a paper states there. */
  stated?: number | null;
}

const isWide = (point: GridPoint): boolean => point.low < point.high;

export interface GridLine {
  name: string;
  points: GridPoint[];
}

export interface GridOptions {
  title: string;
  note?: string;
  along: string;
  /** What the lines are. */
  legend?: string;
  y: string;
  quantity: Quantity;
  bars: boolean;
  lines: GridLine[];
  height?: number;
}

/** Characters of a name that stands. */
const UPRIGHT = 22;

interface Spot {
  x: number;
  y: number;
  text: string;
}

export class GridChart implements Painter {
  readonly title: string;
  readonly plot: Plot;
  readonly root: HTMLElement;
  private readonly hidden = new Set<number>();
  private readonly numeric: boolean;
  private readonly categories: string[] = [];
  private spots: Spot[] = [];

  constructor(private readonly options: GridOptions) {
    this.title = options.title;
    const points = options.lines.flatMap((line) => line.points);
    const alike = new Set(points.map((point) => point.x.quantity)).size === 1;
    const several = options.lines.some((line) => line.points.length > 1);
    this.numeric = !options.bars && alike && several && points.every((point) => point.x.number !== null);
    for (const point of points) if (!this.categories.includes(point.x.text)) this.categories.push(point.x.text);
    this.plot = new Plot(this);
    const stated = points.some((point) => typeof point.stated === "number") ? "; dashed: value in the paper" : "";
    const note = (options.note ?? (points.some(isWide) ? "mean over the seeds with its 95 % confidence interval" : "mean over the seeds")) + stated;
    this.root = el(
      "section",
      { class: "chart" },
      el("header", {}, el("h3", {}, options.title), el("span", { class: "note" }, note), el("span", { class: "tools" }, this.plot.exports())),
      this.plot.box,
      options.lines.length > 1 ? this.legend() : null,
    );
    this.listen();
  }

  private legend(): HTMLElement {
    const swatches: HTMLElement[] = [];
    const chips = this.options.lines.map((line, number) => {
      const swatch = el("span", { class: "swatch" });
      swatches.push(swatch);
      const chip = el("button", { type: "button", class: "chip", aria: { pressed: "true" } }, swatch, el("span", { class: "name" }, line.name));
      chip.addEventListener("click", () => {
        if (this.hidden.has(number)) this.hidden.delete(number);
        else this.hidden.add(number);
        chip.setAttribute("aria-pressed", String(!this.hidden.has(number)));
        this.plot.later();
      });
      return chip;
    });
    const paint = () => swatches.forEach((swatch, number) => (swatch.style.background = look(number, theme()).colour));
    paint();
    onTheme(paint, this.plot.box);
    const named = this.options.legend ? el("span", { class: "note" }, `${this.options.legend}:`) : null;
    return el("div", { class: "legend", role: "group", aria: { label: `lines of ${this.title}` } }, named, ...chips);
  }

  height(width: number): number {
    return this.options.height ?? Math.max(220, Math.min(330, width * 0.45));
  }

  /** Whether there are so many names that they must stand. */
  private upright(surface: Surface): boolean {
    return !this.numeric && this.fits(surface) < 8 && this.categories.length > 6;
  }

  private vertical(): Scale {
    const { lines, quantity, y, bars } = this.options;
    let [low, high] = [Infinity, -Infinity];
    lines.forEach((line, number) => {
      if (this.hidden.has(number)) return;
      for (const point of line.points) {
        low = Math.min(low, point.value, point.low);
        high = Math.max(high, point.value, point.high);
      }
      for (const { stated } of line.points) if (typeof stated === "number") high = Math.max(high, stated);
    });
    if (bars || !this.numeric) low = Math.min(0, low);
    const [bottom, top] = fitted(low, high);
    return { low: bottom, high: top, quantity, label: y };
  }

  paint(surface: Surface, of: Theme, forFile: boolean): void {
    // Names that do not fit beside each other are broken; two lines more are the most.
    const lines = this.numeric ? 1 : Math.max(1, ...this.categories.map((name) => broken(name, this.fits(surface)).length));
    const longest = Math.max(...this.categories.map((name) => Math.min(UPRIGHT, name.length)));
    const below = this.upright(surface) ? 28 + longest * 6.2 : 33 + 13 * lines;
    const area = areaOf(surface, surface.width < 480 ? 54 : 66, this.numeric ? 40 : below);
    const spots: Spot[] = [];
    if (this.numeric) this.paintLines(surface, of, area, spots);
    else this.paintBars(surface, of, area, spots);
    if (!forFile) this.spots = spots;
  }

  /** Characters of a name that have room below its bars. */
  private fits(surface: Surface): number {
    return Math.max(4, Math.floor((surface.width - 80) / Math.max(1, this.categories.length) / 6.1));
  }

  private said(line: GridLine, point: GridPoint): string {
    const { quantity, along } = this.options;
    const around = isWide(point) ? ` (${show(point.low, quantity, 3) || "0"} to ${show(point.high, quantity, 3)})` : "";
    const stated = typeof point.stated === "number" ? `\npaper: ${show(point.stated, quantity)}` : "";
    return `${line.name}\n${along} = ${point.x.text}\n${show(point.value, quantity)}${around}${stated}`;
  }

  private paintLines(surface: Surface, of: Theme, area: Area, spots: Spot[]): void {
    const { lines, along } = this.options;
    const numbers = lines.flatMap((line) => line.points.map((point) => point.x.number!));
    const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
    const room = (most - least) * 0.03 || 1;
    const quantity = (lines[0].points[0].x.quantity ?? "plain") as Quantity;
    const x: Scale = { low: least - room, high: most + room, quantity, label: along };
    const y = this.vertical();
    drawAxes(surface, of, area, x, y);
    surface.clipped(area.left, area.top - 4, area.width, area.height + 8, () => {
      lines.forEach((line, number) => {
        if (this.hidden.has(number)) return;
        const { colour, dash } = look(number, of);
        const points = [...line.points].sort((a, b) => a.x.number! - b.x.number!);
        const place = (point: GridPoint, level: number) => [across(area, x, point.x.number!), up(area, y, level)];
        if (points.some(isWide)) {
          const upper = points.flatMap((point) => place(point, point.high));
          const lower = [...points].reverse().flatMap((point) => place(point, point.low));
          surface.polygon([...upper, ...lower], colour, 0.16);
        }
        surface.line(points.flatMap((point) => place(point, point.value)), { colour, width: 2, dash });
        for (const point of points) {
          const [px, py] = place(point, point.value);
          if (isWide(point)) {
            const [bottom, top] = [up(area, y, point.low), up(area, y, point.high)];
            surface.line([px, bottom, px, top], { colour, width: 1 });
          }
          surface.circle(px, py, 3.2, colour);
          if (typeof point.stated === "number") this.mark(surface, of, px, up(area, y, point.stated), 9);
          spots.push({ x: px, y: py, text: this.said(line, point) });
        }
      });
    });
  }

  private paintBars(surface: Surface, of: Theme, area: Area, spots: Spot[]): void {
    const { lines, along } = this.options;
    const y = this.vertical();
    const [unit, factor] = unitFor(y.quantity, Math.max(Math.abs(y.low), Math.abs(y.high)));
    const marks = ticks(y.low, y.high, Math.max(2, area.height / 42));
    const labels = tickLabels(marks, factor);
    marks.forEach((mark, i) => {
      const at = Math.round(up(area, y, mark)) + 0.5;
      surface.line([area.left, at, area.left + area.width, at], { colour: of.grid, width: 1 });
      surface.text(area.left - 6, at, labels[i], { size: 11, anchor: "end", fill: of.faint });
    });
    surface.text(11, area.top + area.height / 2, unit === "" ? y.label : `${y.label} (${unit})`, { size: 12, anchor: "middle", fill: of.faint, upright: true });
    const seen = lines.map((_, number) => number).filter((number) => !this.hidden.has(number));
    const group = area.width / Math.max(1, this.categories.length);
    const bar = Math.min(56, (group * 0.72) / Math.max(1, seen.length));
    this.categories.forEach((category, i) => {
      const middle = area.left + (i + 0.5) * group;
      const foot = area.top + area.height;
      const short = category.length > UPRIGHT ? `${category.slice(0, UPRIGHT - 1)}\u2026` : category;
      if (this.upright(surface)) surface.text(middle, foot + 6, short, { size: 11, anchor: "end", upright: true, fill: of.ink });
      else broken(category, this.fits(surface)).forEach((part, line) => surface.text(middle, foot + 13 + line * 13, part, { size: 11, anchor: "middle", fill: of.ink }));
      seen.forEach((number, place) => {
        const line = lines[number];
        const point = line.points.find((candidate) => candidate.x.text === category);
        if (!point) return;
        const left = middle + (place - seen.length / 2) * bar;
        const [top, bottom] = [up(area, y, Math.max(point.value, 0)), up(area, y, Math.min(point.value, 0))];
        surface.rect(left + 1, top, bar - 2, Math.max(1, bottom - top), look(number, of).colour);
        if (isWide(point)) {
          const x = left + bar / 2;
          surface.line([x, up(area, y, point.low), x, up(area, y, point.high)], { colour: of.ink, width: 1.5 });
        }
        if (typeof point.stated === "number") this.mark(surface, of, left + bar / 2, up(area, y, point.stated), bar * 0.62);
        if (bar > 34) surface.text(left + bar / 2, top - 8, show(point.value, y.quantity, 3), { size: 10.5, anchor: "middle", fill: of.faint });
        spots.push({ x: left + bar / 2, y: top, text: this.said(line, point) });
      });
    });
    surface.line([area.left, up(area, y, 0), area.left + area.width, up(area, y, 0)], { colour: of.faint, width: 1 });
    surface.text(area.left + area.width / 2, surface.height - 9, along, { size: 12, anchor: "middle", fill: of.faint });
  }

  /** A dashed line where the paper has its number. */
  private mark(surface: Surface, of: Theme, x: number, y: number, reach: number): void {
    surface.line([x - reach, y, x + reach, y], { colour: of.paper, width: 4 });
    surface.line([x - reach, y, x + reach, y], { colour: of.ink, width: 2, dash: [5, 2] });
  }

  names(): { name: string; slot: number }[] {
    const { lines } = this.options;
    return lines.length < 2 ? [] : lines.map(({ name }, slot) => ({ name, slot })).filter(({ slot }) => !this.hidden.has(slot));
  }

  private listen(): void {
    const tip = el("div", { class: "tip" });
    tip.hidden = true;
    this.plot.box.append(tip);
    this.plot.canvas.addEventListener("pointermove", (event) => {
      const box = this.plot.canvas.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      let best: Spot | null = null;
      let near = 30;
      for (const spot of this.spots) {
        const far = Math.hypot(spot.x - px, spot.y - py);
        if (far < near) [best, near] = [spot, far];
      }
      tip.hidden = best === null;
      if (!best) return;
      tip.textContent = best.text;
      tip.style.left = `${Math.min(best.x + 10, box.width - 180)}px`;
      tip.style.top = `${best.y + 10}px`;
    });
    this.plot.canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  }

  csv(): string {
    const { along, y, lines } = this.options;
    const stated = lines.some((line) => line.points.some((point) => typeof point.stated === "number"));
    const rows: (string | number)[][] = [["line", along, y, "lower end of the 95 % confidence interval", "upper end", ...(stated ? ["paper"] : [])]];
    for (const line of lines) {
      for (const point of line.points) rows.push([line.name, point.x.text, point.value, point.low, point.high, ...(stated ? [point.stated ?? ""] : [])]);
    }
    return csvLines(rows);
  }
}
