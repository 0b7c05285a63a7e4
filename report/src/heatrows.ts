// A quantity of many things over time: a row for each, colour for its value.
import { areaOf, drawAxes, type Area, type Scale } from "./axes";
import { el } from "./dom";
import { digits, show, showTime, unitFor } from "./format";
import type { TimeLink } from "./link";
import { Markers } from "./markers";
import { csvLines, Plot, type Painter } from "./plot";
import type { Series } from "./series";
import type { Surface } from "./surface";
import { heatColour, type Theme } from "./theme";
import { fingers } from "./touch";
import type { Quantity } from "./types";

export interface HeatRow {
  name: string;
  series: Series;
}

const ROW = 16;
/** Width of a cell: the largest value in it counts. */
const CELL = 2;

export class HeatRows implements Painter {
  readonly plot: Plot;
  readonly root: HTMLElement;
  private area: Area = { left: 0, top: 0, width: 1, height: 1 };
  private readonly markers: Markers;
  private readonly note: HTMLElement;
  private readonly most: number;

  constructor(
    readonly title: string,
    note: string,
    private readonly quantity: Quantity,
    private readonly rows: HeatRow[],
    private readonly link: TimeLink,
    end: number,
    controls: HTMLElement | null = null,
  ) {
    this.most = Math.max(...rows.map((row) => row.series.extremes(0, end)[1]), Number.MIN_VALUE);
    this.plot = new Plot(this);
    this.markers = new Markers(this.plot.box);
    this.note = el("span", { class: "note" }, note);
    this.root = el(
      "section",
      { class: "chart" },
      el("header", {}, el("h3", {}, title), this.note, el("span", { class: "tools" }, controls, this.plot.exports())),
      this.plot.box,
    );
    const tip = el("div", { class: "tip" });
    tip.hidden = true;
    this.plot.box.append(tip);
    link.onView(() => this.plot.later(), this.root);
    link.onPoint(() => this.mark(), this.root);
    fingers(this.plot.canvas, link, () => this.area, (time) => {
      link.point(time);
      link.setNow(time);
    });
    this.plot.canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      const box = this.plot.canvas.getBoundingClientRect();
      const place = Math.min(1, Math.max(0, (event.clientX - box.left - this.area.left) / this.area.width));
      const time = link.from + place * (link.to - link.from);
      link.point(time);
      const row = this.rows[Math.floor((event.clientY - box.top - this.area.top) / ROW)];
      tip.hidden = row === undefined;
      if (row === undefined) return;
      const value = row.series.at(time);
      tip.textContent = `${row.name}\n${showTime(time, 4)}: ${show(Number.isNaN(value) ? 0 : value, quantity, 3)}`;
      tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 190)}px`;
      tip.style.top = `${event.clientY - box.top + 12}px`;
    });
    this.plot.canvas.addEventListener("pointerleave", (event) => {
      tip.hidden = true;
      if (event.pointerType !== "touch") link.point(null);
    });
  }

  height(): number {
    return this.rows.length * ROW + 56;
  }

  paint(surface: Surface, of: Theme, forFile: boolean): void {
    const left = Math.min(surface.width * 0.35, 10 + 6.3 * Math.max(...this.rows.map((row) => row.name.length)));
    const area = areaOf(surface, Math.max(60, left), 40, 8, 84);
    if (!forFile) this.area = area;
    const { link } = this;
    const x: Scale = { low: link.from, high: link.to, quantity: "time", label: "time", base: 1e-12 };
    drawAxes(surface, of, area, x, { low: 0, high: 1e-9, quantity: "plain", label: "" });
    // The axis of values means nothing here: the names of the rows stand in its place.
    surface.rect(0, 0, area.left - 0.5, area.top + area.height + 4, of.paper);
    const cells = Math.ceil(area.width / CELL);
    this.rows.forEach((row, number) => {
      const top = area.top + number * ROW + 1;
      // Neighbours of one colour are one rectangle.
      let [begin, colour] = [0, ""];
      for (let cell = 0; cell <= cells; cell++) {
        const at = (place: number) => link.from + (Math.min(area.width, place * CELL) / area.width) * (link.to - link.from);
        const value = cell < cells ? row.series.extremes(at(cell), at(cell + 1))[1] : NaN;
        const level = Number.isFinite(value) ? Math.round((value / this.most) * 63) / 63 : 0;
        const now = cell < cells ? heatColour(level) : "";
        if (now === colour) continue;
        if (colour !== "") surface.rect(area.left + begin * CELL, top, Math.min(area.width, cell * CELL) - begin * CELL, ROW - 2, colour);
        [begin, colour] = [cell, now];
      }
      surface.text(area.left - 6, top + ROW / 2 - 1, row.name, { size: 11, anchor: "end", fill: of.ink });
    });
    const [unit, factor] = unitFor(this.quantity, this.most);
    const right = area.left + area.width + 14;
    for (let i = 0; i < 40; i++) surface.rect(right, area.top + (area.height * (39 - i)) / 40, 12, area.height / 40 + 0.6, heatColour(i / 39));
    surface.text(right + 16, area.top + 6, `${digits(this.most / factor, 3)} ${unit}`, { size: 11, fill: of.faint });
    surface.text(right + 16, area.top + area.height - 6, "0", { size: 11, fill: of.faint });
    if (!forFile) this.mark();
  }

  /** Shows where the pointer is. */
  private mark(): void {
    const { from, to, cursor } = this.link;
    const { left, width } = this.area;
    this.markers.show(this.area, cursor === null ? [] : [{ kind: "pointer", x: left + ((cursor - from) / (to - from)) * width }]);
  }

  csv(): string {
    const rows: (string | number)[][] = [["name", "time (s)", this.title]];
    for (const { name, series } of this.rows) for (let i = 0; i < series.length; i++) rows.push([name, series.xs[i] / 1e12, series.ys[i]]);
    return csvLines(rows);
  }
}
