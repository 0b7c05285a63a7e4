// Lines over time that share their view with every other chart of the same stretch: drag to zoom, shift-drag to pan.
import { areaOf, across, drawAxes, fitted, up, type Area, type Scale } from "./axes";
import { button, choice, el } from "./dom";
import { show, showTime } from "./format";
import type { TimeLink } from "./link";
import { Markers, type Mark } from "./markers";
import { pieces } from "./pieces";
import { csvLines, Plot, type Painter } from "./plot";
import type { Series } from "./series";
import type { Surface } from "./surface";
import { look, onTheme, theme, type Theme } from "./theme";
import { fingers } from "./touch";
import type { Quantity } from "./types";

/** One line, made when it is first needed. */
export interface Line {
  name: string;
  /** How much it matters: the heaviest are shown at first. */
  weight: number;
  make(): Series;
  /** Where the line lies when it is compared, such as a fair share. */
  level?: { name: string; at: number };
  /** What it is called whichever run it is of: all of a name are shown, or none. */
  key?: string;
  /** Which of the looks it has; the next free one if it does not matter. */
  slot?: number;
}

/** Stretches of time to be seen behind the lines. */
export interface Band {
  name: string;
  spans(from: number, to: number): [number, number, number][];
}

/** Instants to be seen at the foot of the chart. */
export interface Ticks {
  name: string;
  times(): Float64Array;
}

export interface TimeChartOptions {
  title: string;
  /** What stands above it, where that is less than the title. */
  heading?: string;
  note?: string;
  y: string;
  quantity: Quantity;
  link: TimeLink;
  lines: Line[];
  bands?: Band[];
  ticks?: Ticks[];
  /** At most so many lines at first. */
  most?: number;
  height?: number;
  range?: [number, number];
  /** Without controls: one of many small ones. */
  small?: boolean;
}

interface Shown {
  line: Line;
  series: Series;
  slot: number;
  chip: HTMLElement;
  value: HTMLElement;
}

export class TimeChart implements Painter {
  readonly title: string;
  readonly plot: Plot;
  readonly root: HTMLElement;
  private shown: Shown[] = [];
  private area: Area = { left: 0, top: 0, width: 1, height: 1 };
  /** The scales of the picture that is seen. */
  private scaled: [Scale, Scale] | null = null;
  private readonly markers: Markers;
  private readonly legend: HTMLElement;
  private readonly picker: HTMLElement;
  private readonly extras: HTMLElement;
  private readonly note: HTMLElement;
  private drag: { from: number; at: number; pan: boolean } | null = null;
  private showBands = true;
  private showTicks = true;

  constructor(private readonly options: TimeChartOptions) {
    this.title = options.title;
    this.plot = new Plot(this);
    this.markers = new Markers(this.plot.box);
    this.legend = el("div", { class: "legend", role: "group", aria: { label: `series of ${options.title}` } });
    this.picker = el("div", { class: "picker" });
    this.extras = el("span", { class: "extras" });
    this.note = el("span", { class: "note" }, options.note ?? "");
    const reset = button("Whole time", () => options.link.reset(), { title: "show the whole time (0)" });
    const whole = () => (reset.hidden = options.link.from <= 0 && options.link.to >= options.link.end);
    whole();
    options.link.onView(whole, reset);
    this.root = el(
      "section",
      { class: "chart" },
      el("header", {}, el("h3", {}, options.heading ?? options.title), this.note, el("span", { class: "tools" }, this.extras, options.small ? null : reset, this.plot.exports())),
      this.plot.box,
      this.legend,
      this.picker,
    );
    if (options.bands && options.bands.length > 0 && !options.small) this.extras.append(this.toggle("pauses", (on) => (this.showBands = on)));
    if (options.ticks && options.ticks.length > 0 && !options.small) this.extras.append(this.toggle(options.ticks[0].name, (on) => (this.showTicks = on)));
    this.heaviest().forEach((line) => this.add(line));
    this.makePicker();
    this.listen();
    options.link.onView(() => this.plot.later(), this.root);
    options.link.onPoint(() => this.pointed(), this.root);
    onTheme(() => this.paintChips(), this.root);
  }

  /** The lines that are shown at first: of the heaviest names, in every run that has them. */
  private heaviest(): Line[] {
    const { lines, most = 8 } = this.options;
    const weights = new Map<string, number>();
    const key = (line: Line) => line.key ?? line.name;
    for (const line of lines) weights.set(key(line), (weights.get(key(line)) ?? 0) + line.weight);
    const runs = Math.max(1, ...[...weights.keys()].slice(0, 50).map((name) => lines.filter((line) => key(line) === name).length));
    const ranked = [...weights].filter(([, weight]) => weight > 0 || lines.length <= 8).sort((a, b) => b[1] - a[1]);
    const names = new Set(ranked.slice(0, Math.max(2, Math.ceil(most / runs))).map(([name]) => name));
    return lines.filter((line) => names.has(key(line)));
  }

  /** Puts a control beside the others. */
  addControl(control: HTMLElement): void {
    this.extras.append(control);
  }

  /** Replaces all lines, as when another window is chosen; those of the same names stay shown. */
  replace(lines: Line[], note?: string): void {
    const names = this.shown.map((shown) => shown.line.name);
    this.options.lines = lines;
    this.shown.forEach((shown) => shown.chip.remove());
    this.shown = [];
    const kept = lines.filter((line) => names.includes(line.name));
    for (const line of kept.length > 0 ? kept : this.heaviest()) this.add(line);
    if (note !== undefined) this.note.textContent = note;
    this.makePicker();
    this.plot.later();
  }

  private toggle(name: string, act: (on: boolean) => void): HTMLElement {
    const box = el("input", { type: "checkbox" });
    box.checked = true;
    box.addEventListener("change", () => {
      act(box.checked);
      this.plot.later();
    });
    return el("label", { class: "choice" }, box, ` ${name}`);
  }

  private freeSlot(): number {
    for (let slot = 0; ; slot++) if (!this.shown.some((shown) => shown.slot === slot)) return slot;
  }

  private add(line: Line): void {
    const slot = line.slot ?? this.freeSlot();
    const value = el("span", { class: "value" });
    const chip = el(
      "button",
      { type: "button", class: "chip", title: `hide ${line.name}`, aria: { pressed: String(!this.hidden.has(line.name)) } },
      el("span", { class: "swatch" }),
      el("span", { class: "name" }, line.name),
      value,
    );
    const shown: Shown = { line, series: line.make(), slot, chip, value };
    chip.addEventListener("click", () => this.switch(shown));
    this.shown.push(shown);
    this.legend.append(chip);
    this.paintChips();
  }

  /** Names of hidden lines; choosing another window creates new line objects. */
  private readonly hidden = new Set<string>();

  private switch(shown: Shown): void {
    if (this.hidden.has(shown.line.name)) this.hidden.delete(shown.line.name);
    else this.hidden.add(shown.line.name);
    const on = !this.hidden.has(shown.line.name);
    shown.chip.setAttribute("aria-pressed", String(on));
    shown.chip.title = `${on ? "hide" : "show"} ${shown.line.name}`;
    this.plot.later();
  }

  private paintChips(): void {
    for (const { chip, slot } of this.shown) {
      const { colour, dash } = look(slot, theme());
      const swatch = chip.querySelector<HTMLElement>(".swatch");
      if (swatch) {
        swatch.style.background = dash.length === 0 ? colour : `repeating-linear-gradient(90deg, ${colour} 0 ${dash[0]}px, transparent ${dash[0]}px ${dash[0] + dash[1]}px)`;
      }
    }
  }

  /** Lines that are not in the legend can be found by name and put there. */
  private makePicker(): void {
    const rest = () => this.options.lines.filter((line) => !this.shown.some((shown) => shown.line === line));
    if (rest().length === 0) {
      this.picker.replaceChildren();
      return;
    }
    const list = el("div", { class: "found" });
    const search = el("input", { type: "search", aria: { label: `find series of ${this.title}` } });
    const summary = el("summary", {}, `${rest().length} more`);
    const fill = () => {
      const wanted = search.value.toLowerCase();
      const found = rest().filter((line) => line.name.toLowerCase().includes(wanted)).sort((a, b) => b.weight - a.weight);
      list.replaceChildren(
        ...found.slice(0, 60).map((line) =>
          button(line.name, () => {
            this.add(line);
            summary.textContent = `${rest().length} more`;
            fill();
            this.plot.later();
          }),
        ),
      );
      if (found.length > 60) list.append(el("span", { class: "note" }, `and ${found.length - 60} more: type a part of the name`));
    };
    search.placeholder = "name";
    search.addEventListener("input", fill);
    const details = el("details", {}, summary, search, list);
    details.addEventListener("toggle", () => details.open && fill());
    this.picker.replaceChildren(details);
  }

  height(width: number): number {
    return this.options.height ?? Math.max(180, Math.min(280, width * 0.4));
  }

  private visible(): Shown[] {
    return this.shown.filter((shown) => !this.hidden.has(shown.line.name));
  }

  private scales(): [Scale, Scale] {
    const { link, range, quantity } = this.options;
    let [low, high] = [Infinity, -Infinity];
    for (const { series, line } of this.visible()) {
      const [least, most] = series.extremes(link.from, link.to);
      low = Math.min(low, least);
      high = Math.max(high, most, line.level?.at ?? -Infinity);
    }
    const [bottom, top] = range ?? fitted(Math.min(low, high), high);
    return [
      { low: link.from, high: link.to, quantity: "time", label: "time", base: 1e-12 },
      { low: bottom, high: top, quantity, label: this.options.y },
    ];
  }

  paint(surface: Surface, of: Theme, forFile: boolean): void {
    const { link } = this.options;
    const narrow = surface.width < 480;
    const area = areaOf(surface, narrow ? 52 : 64);
    const [x, y] = this.scales();
    if (!forFile) [this.area, this.scaled] = [area, [x, y]];
    drawAxes(surface, of, area, x, y);
    surface.clipped(area.left, area.top, area.width, area.height, () => {
      if (this.showBands) this.paintBands(surface, of, area, x);
      for (const { line, slot } of this.visible()) {
        if (!line.level) continue;
        const at = up(area, y, line.level.at);
        surface.line([area.left, at, area.left + area.width, at], { colour: look(slot, of).colour, width: 1, dash: [2, 4] });
      }
      for (const { series, slot } of this.visible()) {
        const { colour, dash } = look(slot, of);
        const pieces = series.drawn(link.from, link.to, Math.ceil(area.width));
        const placed = pieces.map((piece) => {
          const points = new Float64Array(piece.length);
          for (let i = 0; i < piece.length; i += 2) {
            points[i] = across(area, x, piece[i]);
            points[i + 1] = up(area, y, piece[i + 1]);
          }
          return points;
        });
        surface.lines(placed, { colour, width: 1.6, dash });
      }
      if (this.showTicks) this.paintTicks(surface, of, area, x);
    });
    if (!forFile) this.mark();
  }

  names(): { name: string; slot: number }[] {
    return this.visible().map(({ line, slot }) => ({ name: line.name, slot }));
  }

  private paintBands(surface: Surface, of: Theme, area: Area, x: Scale): void {
    const { link, bands } = this.options;
    if (!bands || bands.length === 0) return;
    const columns = new Float64Array(Math.ceil(area.width));
    const all = new Float64Array(columns.length);
    for (const band of bands) {
      // Per column the part of the time that was spent in it: thousands of short pauses stay one picture.
      columns.fill(0);
      for (const [from, to, covered] of band.spans(link.from, link.to)) {
        const [left, right] = [across(area, x, from) - area.left, across(area, x, to) - area.left];
        const dense = to > from ? covered / (to - from) : 1;
        for (let c = Math.max(0, Math.floor(left)); c < columns.length && c < right; c++) {
          columns[c] += (Math.min(c + 1, right) - Math.max(c, left)) * dense;
        }
      }
      for (let c = 0; c < columns.length; c++) all[c] += Math.min(1, columns[c]) / bands.length;
    }
    // The more of them pause, the darker; of hundreds a single one is still seen.
    for (const { from, to, strength } of pieces(all, 0.005)) surface.rect(area.left + from, area.top, to - from, area.height, of.pause, Math.max(0.01, 0.24 * strength));
  }

  private paintTicks(surface: Surface, of: Theme, area: Area, x: Scale): void {
    const { link, ticks } = this.options;
    for (const one of ticks ?? []) {
      const places = new Set<number>();
      for (const time of one.times()) if (time >= link.from && time <= link.to) places.add(Math.round(across(area, x, time)));
      const bottom = area.top + area.height;
      surface.lines([...places].map((at) => [at + 0.5, bottom - 9, at + 0.5, bottom]), { colour: of.ink, width: 1, alpha: 0.75 });
    }
  }

  /** Shows the instant of the network, the pointer and the values there. */
  private mark(): void {
    const { scaled, area, drag } = this;
    const { now, cursor } = this.options.link;
    if (!scaled) return;
    const [x, y] = scaled;
    const marks: Mark[] = [];
    if (now > 0) marks.push({ kind: "instant", x: across(area, x, now) });
    if (drag && !drag.pan) {
      const [from, to] = [drag.from, drag.at].sort((a, b) => a - b).map((at) => across(area, x, at));
      marks.push({ kind: "stretch", from, to });
    }
    if (cursor !== null) {
      marks.push({ kind: "pointer", x: across(area, x, cursor) });
      for (const { series, slot } of this.visible()) {
        const value = series.at(cursor);
        if (!Number.isNaN(value)) marks.push({ kind: "spot", x: across(area, x, cursor), y: up(area, y, value), colour: look(slot, theme()).colour });
      }
    }
    this.markers.show(area, marks);
  }

  private pointed(): void {
    const { cursor } = this.options.link;
    for (const { series, value } of this.shown) {
      const text = cursor === null ? "" : show(series.at(cursor), this.options.quantity);
      if (value.textContent !== text) value.textContent = text;
    }
    this.mark();
  }

  private timeAt(event: PointerEvent | WheelEvent | MouseEvent): number {
    const { link } = this.options;
    const place = event.clientX - this.plot.canvas.getBoundingClientRect().left;
    const part = Math.min(1, Math.max(0, (place - this.area.left) / this.area.width));
    return link.from + part * (link.to - link.from);
  }

  private listen(): void {
    const { canvas } = this.plot;
    const { link } = this.options;
    const tapped = (time: number) => {
      link.point(time);
      link.setNow(time);
    };
    fingers(canvas, link, () => this.area, tapped);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 1 || event.pointerType === "touch") return;
      canvas.setPointerCapture(event.pointerId);
      const at = this.timeAt(event);
      this.drag = { from: at, at, pan: event.shiftKey || event.button === 1 };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      const at = this.timeAt(event);
      if (this.drag?.pan) {
        link.pan((this.drag.from - at) / (link.to - link.from));
        return;
      }
      if (this.drag) this.drag.at = at;
      link.point(at);
    });
    const end = (event: PointerEvent) => {
      const drag = this.drag;
      this.drag = null;
      if (!drag || drag.pan || event.type === "pointercancel") return;
      const [from, to] = [drag.from, drag.at].sort((a, b) => a - b);
      // A press without a drag moves the drawing to that instant.
      if ((to - from) / (link.to - link.from) > 0.008) link.view(from, to);
      else link.setNow(this.timeAt(event));
      this.mark();
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    // What a finger pointed at stays to be read when it is lifted.
    canvas.addEventListener("pointerleave", (event) => !this.drag && event.pointerType !== "touch" && link.point(null));
    canvas.addEventListener("dblclick", () => link.reset());
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
        event.preventDefault();
        const by = event.deltaY || event.deltaX;
        link.zoom(this.timeAt(event), by > 0 ? 1.25 : 0.8);
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      const middle = (link.from + link.to) / 2;
      const step = (link.to - link.from) / 50;
      const acts: Record<string, () => void> = {
        ArrowLeft: () => (event.shiftKey ? link.point(Math.max(link.from, (link.cursor ?? middle) - step)) : link.pan(-0.2)),
        ArrowRight: () => (event.shiftKey ? link.point(Math.min(link.to, (link.cursor ?? middle) + step)) : link.pan(0.2)),
        "+": () => link.zoom(link.cursor ?? middle, 0.7),
        "=": () => link.zoom(link.cursor ?? middle, 0.7),
        "-": () => link.zoom(link.cursor ?? middle, 1 / 0.7),
        "0": () => link.reset(),
        Escape: () => link.point(null),
      };
      const act = acts[event.key];
      if (act) {
        event.preventDefault();
        act();
      }
    });
    canvas.title = "drag: zoom · shift-drag: pan · ctrl-wheel: zoom · double click or 0: whole time · arrows, + and -: move";
  }

  /** Every point of the shown lines, at full detail, over the time that is seen. */
  csv(): string {
    const { link, quantity } = this.options;
    const unit: Record<Quantity, string> = { time: "s", rate: "b/s", size: "B", fraction: "1", count: "1", frames: "frames", plain: "" };
    const rows: (string | number)[][] = [["series", "time (s)", `${this.options.y} (${unit[quantity]})`]];
    for (const { line, series } of this.visible()) {
      for (let i = Math.max(0, series.after(link.from) - 1); i < series.length && series.xs[i] <= link.to; i++) {
        if (!Number.isNaN(series.ys[i])) rows.push([line.name, series.xs[i] / 1e12, series.ys[i]]);
      }
    }
    return csvLines(rows);
  }
}

/** A control that chooses the window over which rates are averaged. */
export function windowChoice(windows: number[], chosen: number, act: (window: number) => void): HTMLElement {
  const options = windows.map((window): [string, string] => [String(window), window === 0 ? "each sample" : showTime(window)]);
  return choice("mean over", options, String(chosen), (value) => act(Number(value)));
}
