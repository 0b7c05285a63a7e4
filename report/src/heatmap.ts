// A quantity over two axes of a grid of runs.
import { areaOf, coloursOf } from "./axes";
import { el } from "./dom";
import { show, unitFor, digits } from "./format";
import { csvLines, Plot, type Painter } from "./plot";
import type { Surface } from "./surface";
import { heatColour, type Theme } from "./theme";
import type { Quantity } from "./types";

export interface HeatOptions {
  title: string;
  x: { name: string; values: string[] };
  y: { name: string; values: string[] };
  quantity: Quantity;
  /** Row by row from the bottom; null where nothing was measured. */
  cells: (number | null)[][];
  note?: string;
}

export class HeatMap implements Painter {
  readonly title: string;
  readonly plot: Plot;
  readonly root: HTMLElement;

  constructor(private readonly options: HeatOptions) {
    this.title = options.title;
    this.plot = new Plot(this);
    this.root = el(
      "section",
      { class: "chart" },
      el("header", {}, el("h3", {}, options.title), el("span", { class: "note" }, options.note ?? ""), el("span", { class: "tools" }, this.plot.exports())),
      this.plot.box,
    );
    const tip = el("div", { class: "tip" });
    tip.hidden = true;
    this.plot.box.append(tip);
    this.plot.canvas.addEventListener("pointermove", (event) => {
      const box = this.plot.canvas.getBoundingClientRect();
      const { x, y, cells, quantity } = this.options;
      const { left, top, width, height } = this.frame(box.width, box.height);
      const column = Math.floor(((event.clientX - box.left - left) / width) * x.values.length);
      const row = y.values.length - 1 - Math.floor(((event.clientY - box.top - top) / height) * y.values.length);
      const value = cells[row]?.[column];
      tip.hidden = value === undefined;
      if (value === undefined) return;
      tip.textContent = `${x.name} = ${x.values[column]}\n${y.name} = ${y.values[row]}\n${value === null ? "not measured" : show(value, quantity)}`;
      tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 190)}px`;
      tip.style.top = `${event.clientY - box.top + 12}px`;
    });
    this.plot.canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  }

  height(width: number): number {
    return Math.max(200, Math.min(420, this.options.y.values.length * 34 + 70, width));
  }

  private frame(width: number, height: number): { left: number; top: number; width: number; height: number } {
    const longest = Math.max(...this.options.y.values.map((value) => value.length));
    return areaOf({ width, height } as Surface, Math.min(width * 0.35, 34 + longest * 6.4), 44, 8, 84);
  }

  paint(surface: Surface, of: Theme): void {
    const { x, y, cells, quantity } = this.options;
    const area = this.frame(surface.width, surface.height);
    const numbers = cells.flat().filter((value): value is number => value !== null);
    const [low, high] = coloursOf(numbers);
    const part = (value: number) => (value - low) / (high - low);
    const [wide, tall] = [area.width / x.values.length, area.height / y.values.length];
    cells.forEach((row, j) =>
      row.forEach((value, i) => {
        const [left, top] = [area.left + i * wide, area.top + (y.values.length - 1 - j) * tall];
        surface.rect(left, top, wide - 1, tall - 1, value === null ? of.grid : heatColour(part(value)));
        if (value !== null && wide > 62 && tall > 15) {
          surface.text(left + wide / 2, top + tall / 2, show(value, quantity, 3), { size: 11, anchor: "middle", fill: part(value) > 0.6 ? "#111111" : "#ffffff" });
        }
      }),
    );
    x.values.forEach((value, i) => surface.text(area.left + (i + 0.5) * wide, area.top + area.height + 12, value, { size: 11, anchor: "middle", fill: of.ink }));
    y.values.forEach((value, j) => surface.text(area.left - 6, area.top + (y.values.length - j - 0.5) * tall, value, { size: 11, anchor: "end", fill: of.ink }));
    surface.text(area.left + area.width / 2, area.top + area.height + 31, x.name, { size: 12, anchor: "middle", fill: of.faint });
    surface.text(10, area.top + area.height / 2, y.name, { size: 12, anchor: "middle", fill: of.faint, upright: true });
    const [unit, factor] = unitFor(quantity, high);
    const right = area.left + area.width + 14;
    for (let i = 0; i < 40; i++) surface.rect(right, area.top + (area.height * (39 - i)) / 40, 12, area.height / 40 + 0.6, heatColour(i / 39));
    const label = (value: number) => digits(value / factor, 3);
    surface.text(right + 16, area.top + 6, label(high), { size: 11, fill: of.faint });
    surface.text(right + 16, area.top + area.height - 6, label(low), { size: 11, fill: of.faint });
    surface.text(right + 16, area.top + area.height / 2, unit, { size: 11, fill: of.faint });
  }

  csv(): string {
    const { x, y, cells } = this.options;
    const rows: (string | number | null)[][] = [[y.name, x.name, this.title]];
    cells.forEach((row, j) => row.forEach((value, i) => rows.push([y.values[j], x.values[i], value])));
    return csvLines(rows);
  }
}
