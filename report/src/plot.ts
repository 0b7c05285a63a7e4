// A plot: a painter on a canvas that follows its size and the theme, and can be taken along as SVG, PNG and CSV.
import { button, download, el, fileName } from "./dom";
import { CanvasSurface, SvgSurface, type Surface } from "./surface";
import { LIGHT, look, onTheme, theme, type Theme } from "./theme";

export interface Painter {
  /** What stands above it. */
  title: string;
  /** Height for a width. */
  height(width: number): number;
  paint(surface: Surface, theme: Theme, forFile: boolean): void;
  /** The lines that stand in the legend, with their looks: in a file they lie below the plot. */
  names?(): { name: string; slot: number }[];
  /** Its data, with a line of names first. */
  csv(): string;
}

/** A cell of CSV. */
export function cell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  const text = String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvLines(rows: (string | number | null | undefined)[][]): string {
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

const waiting = new Set<Plot>();
let asked = false;
/** A page that is printed has no more frames. */
let printing = false;

function ask(): void {
  if (asked) return;
  asked = true;
  requestAnimationFrame(flush);
}

/** Paints what is seen. What is not seen keeps its picture until it is; one of those that have none yet gets it. */
function flush(): void {
  asked = false;
  const all = [...waiting];
  waiting.clear();
  for (const plot of all) if (plot.near) plot.now();
  let given = false;
  for (const plot of all.filter((plot) => !plot.near)) {
    if (plot.painted) plot.stale = true;
    else if (given) waiting.add(plot);
    else given = plot.now();
  }
  if (waiting.size > 0) ask();
}

/** Pixels from the window within which a plot counts as seen. */
const NEAR = 300;

const places = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) (target as CanvasBox).plot?.come(isIntersecting);
  },
  { rootMargin: `${NEAR}px` },
);

window.addEventListener("beforeprint", () => {
  printing = true;
  for (const box of document.querySelectorAll<CanvasBox>(".plot")) if (box.plot?.stale || (box.plot && waiting.has(box.plot))) box.plot.now();
});
window.addEventListener("afterprint", () => (printing = false));

const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) (entry.target as CanvasBox).plot?.later();
});

/** Paints what is seen of an element at once, so that what replaces other plots is never seen empty; the rest has its size. */
export function paintAll(within: Element): void {
  const plots = [...within.querySelectorAll<CanvasBox>(".plot")].flatMap(({ plot }) => plot ?? []);
  // All are measured before any is changed: each change would have the page laid out again.
  const widths = plots.map(({ box }) => box.clientWidth);
  plots.forEach((plot, i) => plot.fit(widths[i]));
  const seen = plots.map(({ box }) => {
    const { top, bottom } = box.getBoundingClientRect();
    return bottom > -NEAR && top < window.innerHeight + NEAR;
  });
  plots.forEach((plot, i) => {
    plot.near = seen[i];
    if (seen[i]) plot.now();
    else plot.later();
  });
}

type CanvasBox = HTMLElement & { plot?: Plot };

export class Plot {
  readonly box: CanvasBox;
  readonly canvas: HTMLCanvasElement;
  width = 0;
  height = 0;
  /** Whether it is in the window or near it; so it is until that is known. */
  near = true;
  /** Whether its canvas has a picture. */
  painted = false;
  /** Whether its picture is out of date. */
  stale = false;

  constructor(readonly painter: Painter) {
    this.canvas = el("canvas", { role: "img", tabindex: 0, aria: { label: painter.title } });
    this.box = el("div", { class: "plot" }, this.canvas);
    this.box.plot = this;
    sizes.observe(this.box);
    places.observe(this.box);
    onTheme(() => this.later(), this.box);
  }

  /** Paints at the next frame, however often asked until then. */
  later(): void {
    if (printing) return void this.now();
    waiting.add(this);
    ask();
  }

  /** It comes near the window, or leaves it. */
  come(near: boolean): void {
    this.near = near;
    if (near && this.stale) this.later();
  }

  /** Gives the canvas the size that belongs to a width; whether there is room for one. */
  fit(wide: number): boolean {
    const width = Math.floor(wide);
    if (width < 10) return false;
    const height = Math.floor(this.painter.height(width));
    const ratio = window.devicePixelRatio || 1;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== across || this.canvas.height !== down) {
      this.canvas.width = across;
      this.canvas.height = down;
      this.canvas.style.height = `${height}px`;
      this.painted = false;
    }
    this.width = width;
    this.height = height;
    return true;
  }

  /** Paints; whether there was room to. One without room is asked again when it gets some. */
  now(): boolean {
    this.stale = false;
    if (!this.fit(this.box.clientWidth)) return false;
    const { width, height } = this;
    const ratio = window.devicePixelRatio || 1;
    const context = this.canvas.getContext("2d");
    if (!context) return false;
    this.painted = true;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.painter.paint(new CanvasSurface(context, width, height), theme(), false);
    return true;
  }

  private readonly heading = 34;

  /** Where the names of the lines stand below the plot, and how high that is. */
  private names(width: number): { places: { name: string; slot: number; x: number; y: number }[]; height: number } {
    let [x, y] = [14, 12];
    const places = (this.painter.names?.() ?? []).map(({ name, slot }) => {
      const wide = name.length * 6.6 + 44;
      if (x > 14 && x + wide > width) [x, y] = [14, y + 18];
      const place = { name, slot, x, y };
      x += wide;
      return place;
    });
    return { places, height: places.length > 0 ? y + 14 : 0 };
  }

  /** All of a file but the plot itself. */
  private around(surface: Surface): void {
    surface.rect(0, 0, surface.width, surface.height, LIGHT.paper);
    surface.text(12, 18, this.painter.title, { size: 15, bold: true, fill: LIGHT.ink });
    const { places, height } = this.names(surface.width);
    for (const { name, slot, x, y } of places) {
      const { colour, dash } = look(slot, LIGHT);
      const middle = surface.height - height + y;
      surface.line([x, middle, x + 20, middle], { colour, width: 3, dash });
      surface.text(x + 26, middle, name, { size: 12, fill: LIGHT.ink });
    }
  }

  /** The plot with its title as an SVG file, in the light theme. */
  svg(): string {
    const width = this.width || 900;
    const height = this.painter.height(width);
    const all = new SvgSurface(width, this.heading + height + this.names(width).height);
    this.around(all);
    const inner = new SvgSurface(width, height);
    this.painter.paint(inner, LIGHT, true);
    const moved = inner.toString().replace(/^<svg [^>]*>/, `<g transform="translate(0 ${this.heading})">`).replace(/<\/svg>\s*$/, "</g>");
    return all.toString().replace(/<\/svg>\s*$/, `${moved}</svg>\n`);
  }

  /** The same as PNG, at twice the size. */
  png(): Promise<Blob | null> {
    const width = this.width || 900;
    const height = this.painter.height(width);
    const canvas = el("canvas");
    canvas.width = width * 2;
    const whole = this.heading + height + this.names(width).height;
    canvas.height = whole * 2;
    const context = canvas.getContext("2d");
    if (!context) return Promise.resolve(null);
    context.scale(2, 2);
    this.around(new CanvasSurface(context, width, whole));
    context.translate(0, this.heading);
    this.painter.paint(new CanvasSurface(context, width, height), LIGHT, true);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  /** Buttons that take it along. */
  exports(): HTMLElement {
    const name = () => fileName(this.painter.title);
    const save = async () => {
      const blob = await this.png();
      if (blob) download(`${name()}.png`, blob, "image/png");
    };
    return el(
      "span",
      { class: "exports", role: "group", aria: { label: `save ${this.painter.title}` } },
      button("SVG", () => download(`${name()}.svg`, this.svg(), "image/svg+xml"), { title: "save the plot as SVG" }),
      button("PNG", () => void save(), { title: "save the plot as PNG" }),
      button("CSV", () => download(`${name()}.csv`, this.painter.csv(), "text/csv"), { title: "save the data of the plot as CSV" }),
    );
  }
}
