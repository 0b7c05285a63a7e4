// Rows of stretches of time, such as when ports had to pause.
import { across, areaOf, drawAxes, type Area, type Scale } from "./axes";
import { el } from "./dom";
import { digits } from "./format";
import type { TimeLink } from "./link";
import { Markers } from "./markers";
import { pieces } from "./pieces";
import { csvLines, Plot, type Painter } from "./plot";
import type { Surface } from "./surface";
import type { Theme } from "./theme";
import { fingers } from "./touch";

export interface BandRow {
  name: string;
  starts: Float64Array;
  ends: Float64Array;
  /** How much of each stretch was covered: short ones may have been joined. */
  covered: Float64Array;
}

const ROW = 16;

export class BandChart implements Painter {
  readonly plot: Plot;
  readonly root: HTMLElement;
  private area: Area = { left: 0, top: 0, width: 1, height: 1 };
  private readonly markers: Markers;

  constructor(
    readonly title: string,
    note: string,
    private readonly rows: BandRow[],
    private readonly link: TimeLink,
    /** What a row is, and what is counted of it. */
    private readonly row = "port",
    private readonly counted = "paused (s)",
  ) {
    this.plot = new Plot(this);
    this.markers = new Markers(this.plot.box);
    this.root = el(
      "section",
      { class: "chart" },
      el("header", {}, el("h3", {}, title), el("span", { class: "note" }, note), el("span", { class: "tools" }, this.plot.exports())),
      this.plot.box,
    );
    link.onView(() => this.plot.later(), this.root);
    link.onPoint(() => this.mark(), this.root);
    fingers(this.plot.canvas, link, () => this.area, (time) => {
      link.point(time);
      link.setNow(time);
    });
    this.plot.canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      const place = event.clientX - this.plot.canvas.getBoundingClientRect().left;
      link.point(link.from + Math.min(1, Math.max(0, (place - this.area.left) / this.area.width)) * (link.to - link.from));
    });
    this.plot.canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && link.point(null));
  }

  height(): number {
    return this.rows.length * ROW + 56;
  }

  paint(surface: Surface, of: Theme, forFile: boolean): void {
    const left = Math.min(surface.width * 0.35, 10 + 6.3 * Math.max(...this.rows.map((row) => row.name.length)));
    const area = areaOf(surface, Math.max(60, left), 40, 8, 52);
    if (!forFile) this.area = area;
    const { link } = this;
    const x: Scale = { low: link.from, high: link.to, quantity: "time", label: "time", base: 1e-12 };
    drawAxes(surface, of, area, x, { low: 0, high: 1e-9, quantity: "plain", label: "" });
    // The axis of values means nothing here: the names of the rows stand in its place.
    surface.rect(0, 0, area.left - 0.5, area.top + area.height + 4, of.paper);
    this.rows.forEach((row, number) => {
      const top = area.top + number * ROW + 2;
      const columns = new Float64Array(Math.ceil(area.width));
      let sum = 0;
      for (let i = 0; i < row.starts.length; i++) {
        const [from, to] = [Math.max(row.starts[i], link.from), Math.min(row.ends[i], link.to)];
        if (to <= from) continue;
        const dense = row.covered[i] / (row.ends[i] - row.starts[i] || 1);
        sum += (to - from) * dense;
        const [begin, end] = [across(area, x, from) - area.left, across(area, x, to) - area.left];
        for (let c = Math.floor(begin); c < columns.length && c < end; c++) {
          columns[c] += (Math.min(c + 1, end) - Math.max(c, begin)) * dense;
        }
      }
      for (const { from, to, strength } of pieces(columns, 0.04)) surface.rect(area.left + from, top, to - from, ROW - 4, of.pause, 0.15 + 0.85 * strength);
      surface.text(area.left - 6, top + ROW / 2 - 2, row.name, { size: 11, anchor: "end", fill: of.ink });
      const part = (sum / (link.to - link.from)) * 100;
      surface.text(area.left + area.width + 6, top + ROW / 2 - 2, `${digits(part, 3)} %`, { size: 11, fill: of.faint });
    });
    if (!forFile) this.mark();
  }

  /** Shows where the pointer is. */
  private mark(): void {
    const { from, to, cursor } = this.link;
    const { left, width } = this.area;
    this.markers.show(this.area, cursor === null ? [] : [{ kind: "pointer", x: left + ((cursor - from) / (to - from)) * width }]);
  }

  csv(): string {
    const rows: (string | number)[][] = [[this.row, "start (s)", "end (s)", this.counted]];
    for (const row of this.rows) {
      row.starts.forEach((start, i) => rows.push([row.name, start / 1e12, row.ends[i] / 1e12, row.covered[i] / 1e12]));
    }
    return csvLines(rows);
  }
}
