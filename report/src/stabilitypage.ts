// The report of an analysis of stability: margins and roots of every loop, the map, and the fluid over time.
import { across, areaOf, drawAxes, up, type Scale } from "./axes";
import { inflate, unpackColumns } from "./data";
import { dataTable } from "./datatable";
import { el } from "./dom";
import { digits, show } from "./format";
import { TimeLink } from "./link";
import { csvLines, Plot, type Painter } from "./plot";
import { Series } from "./series";
import { facts, section } from "./shell";
import type { Surface } from "./surface";
import { look, type Theme } from "./theme";
import { TimeChart } from "./timechart";
import type { ColumnAbout, Quantity, Report } from "./types";

const KINDS: Record<string, Quantity> = {
  delay: "time",
  time_reset: "time",
  cnp_interval: "time",
  alpha_period: "time",
  t_low: "time",
  t_high: "time",
  min_rtt: "time",
  reference_rtt: "time",
  capacity: "rate",
  rate_unit: "rate",
  min_rate: "rate",
  max_rate: "rate",
  ai_rate: "rate",
  set_point: "size",
  frame: "size",
  buffer: "size",
  sample_base: "size",
  byte_reset: "size",
  kmin: "size",
  kmax: "size",
  segment: "size",
};
const kindOf = (name: string): Quantity => KINDS[name] ?? "plain";

interface Loop {
  name: string;
  pole: number | null;
  crossover_rad_s: number | null;
  phase_margin_deg: number | null;
  gain_margin: number | null;
  gain_margin_is: "a factor" | "unlimited" | "none";
  critical_delay_s: number | null;
  roots: [number, number][];
  open_loop_poles: [number, number][];
  settling_s: number | null;
  frequency_hz: number | null;
  stable: boolean;
}

/** A painter with its own frame. */
function framed(painter: Painter, note: string): HTMLElement {
  const plot = new Plot(painter);
  return el("section", { class: "chart" }, el("header", {}, el("h3", {}, painter.title), el("span", { class: "note" }, note), el("span", { class: "tools" }, plot.exports())), plot.box);
}

/** The roots of all loops in the plane; what lies to the right of the middle grows. */
class RootPlot implements Painter {
  readonly title = "Roots of the loops";

  constructor(private readonly loops: Loop[]) {}

  height(width: number): number {
    return Math.min(380, width * 0.6);
  }

  paint(surface: Surface, of: Theme): void {
    const area = areaOf(surface, 74);
    const both = this.loops.flatMap((loop) => loop.roots.flatMap(([re, im]) => [[re, im], [re, -im]]));
    const poles = this.loops.flatMap((loop) => loop.open_loop_poles);
    const all = [...both, ...poles];
    const reach = Math.max(1e-9, ...all.map(([, im]) => Math.abs(im))) * 1.15;
    const side = Math.max(1e-9, ...all.map(([re]) => Math.abs(re))) * 1.2;
    const x: Scale = { low: -side, high: side, quantity: "plain", label: "real part (1/s); negative: decays, positive: grows" };
    const y: Scale = { low: -reach, high: reach, quantity: "plain", label: "imaginary part (rad/s)" };
    surface.rect(across(area, x, 0), area.top, area.left + area.width - across(area, x, 0), area.height, of.pause, 0.08);
    drawAxes(surface, of, area, x, y);
    surface.line([across(area, x, 0), area.top, across(area, x, 0), area.top + area.height], { colour: of.ink, width: 1 });
    this.loops.forEach((loop, number) => {
      const { colour } = look(number, of);
      for (const [re, im] of loop.roots.flatMap(([re, im]) => [[re, im], [re, -im]])) surface.circle(across(area, x, re), up(area, y, im), 5, colour);
      for (const [re, im] of loop.open_loop_poles) {
        const [px, py] = [across(area, x, re), up(area, y, im)];
        surface.lines([[px - 5, py - 5, px + 5, py + 5], [px - 5, py + 5, px + 5, py - 5]], { colour, width: 1.5 });
      }
      const top = area.top + 14 + number * 16;
      const right = area.left + area.width - 12;
      surface.circle(right, top, 4.5, colour);
      surface.text(right - 10, top, `${loop.name}: closed loop; \u00d7 open loop`, { size: 11, anchor: "end", fill: of.ink });
    });
  }

  csv(): string {
    const rows: (string | number)[][] = [["loop", "kind", "real (1/s)", "imaginary (rad/s)"]];
    for (const loop of this.loops) {
      for (const [re, im] of loop.roots) rows.push([loop.name, "closed loop", re, im]);
      for (const [re, im] of loop.open_loop_poles) rows.push([loop.name, "open loop", re, im]);
    }
    return csvLines(rows);
  }
}

interface MapAbout {
  x: { name: string; from: number; to: number };
  y: { name: string; from: number; to: number };
  points: number;
  stable_part: number;
  boundary: [number, number][][];
  edge_of_theorem_3?: [number, number][][];
  margins_millidegrees?: { columns: ColumnAbout[]; base64: string };
}

/** Phase margins in degrees with their colours: orange is unstable, blue is stable; brightness tells how far. */
const BANDS: [number, string, [number, number, number]][] = [
  [-Infinity, "unstable, below -30\u00b0", [166, 54, 3]],
  [-30, "unstable, -30\u00b0 to -10\u00b0", [230, 107, 25]],
  [-10, "unstable, -10\u00b0 to 0\u00b0", [253, 190, 133]],
  [0, "stable, 0\u00b0 to 5\u00b0", [222, 235, 247]],
  [5, "stable, 5\u00b0 to 15\u00b0", [158, 202, 225]],
  [15, "stable, 15\u00b0 to 30\u00b0", [107, 174, 214]],
  [30, "stable, 30\u00b0 to 60\u00b0", [49, 130, 189]],
  [60, "stable, 60\u00b0 and more", [8, 81, 156]],
];
const NONE = 2147483647;

class StabilityMap implements Painter {
  readonly title = "Phase margin";
  private readonly pixels: HTMLCanvasElement;

  constructor(
    private readonly about: MapAbout,
    private readonly margins: Float64Array,
    private readonly here: [number, number],
  ) {
    const { points } = about;
    this.pixels = el("canvas");
    this.pixels.width = points;
    this.pixels.height = points;
    const context = this.pixels.getContext("2d")!;
    const image = context.createImageData(points, points);
    for (let row = 0; row < points; row++) {
      for (let column = 0; column < points; column++) {
        const margin = margins[row * points + column];
        let colour: number[] = [205, 205, 205];
        if (margin !== NONE) for (const [from, , shade] of BANDS) if (margin / 1e3 >= from) colour = shade;
        const at = ((points - 1 - row) * points + column) * 4;
        image.data.set([...colour, 255], at);
      }
    }
    context.putImageData(image, 0, 0);
  }

  height(width: number): number {
    return Math.min(540, Math.max(320, width * 0.5));
  }

  paint(surface: Surface, of: Theme): void {
    const { about } = this;
    const wide = surface.width > 620;
    const area = areaOf(surface, 74, 40, 8, wide ? 180 : 14);
    const x: Scale = { low: about.x.from, high: about.x.to, quantity: kindOf(about.x.name), label: about.x.name };
    const y: Scale = { low: about.y.from, high: about.y.to, quantity: kindOf(about.y.name), label: about.y.name };
    drawAxes(surface, of, area, x, y);
    surface.image(area.left, area.top, area.width, area.height, this.pixels);
    const path = (points: [number, number][]) => points.flatMap(([px, py]) => [across(area, x, px), up(area, y, py)]);
    surface.clipped(area.left, area.top, area.width, area.height, () => {
      surface.lines(about.boundary.map(path), { colour: "#000000", width: 2 });
      surface.lines((about.edge_of_theorem_3 ?? []).map(path), { colour: "#000000", width: 1.5, dash: [6, 4] });
      const [hx, hy] = [across(area, x, this.here[0]), up(area, y, this.here[1])];
      surface.circle(hx, hy, 6, "#009e73", { colour: "#ffffff", width: 2 });
    });
    if (!wide) return;
    const left = area.left + area.width + 12;
    BANDS.forEach(([, name, colour], i) => {
      surface.rect(left, area.top + 6 + i * 18, 14, 12, `rgb(${colour.join(",")})`);
      surface.text(left + 20, area.top + 12 + i * 18, name, { size: 11, fill: of.ink });
    });
    const below = area.top + 16 + BANDS.length * 18;
    surface.rect(left, below - 4, 14, 12, "#cdcdcd");
    surface.text(left + 20, below + 2, "no equilibrium", { size: 11, fill: of.ink });
    surface.line([left, below + 20, left + 14, below + 20], { colour: of.ink, width: 2 });
    surface.text(left + 20, below + 20, "stability boundary", { size: 11, fill: of.ink });
    surface.line([left, below + 38, left + 14, below + 38], { colour: of.ink, width: 1.5, dash: [4, 3] });
    surface.text(left + 20, below + 38, "theorem 3, own a", { size: 11, fill: of.ink });
    surface.circle(left + 7, below + 56, 5, "#009e73");
    surface.text(left + 20, below + 56, "this scenario", { size: 11, fill: of.ink });
  }

  csv(): string {
    const { about } = this;
    const value = (axis: MapAbout["x"], place: number) => axis.from + ((axis.to - axis.from) * place) / (about.points - 1);
    const rows: (string | number)[][] = [[about.x.name, about.y.name, "phase margin (deg)"]];
    this.margins.forEach((margin, i) => {
      rows.push([value(about.x, i % about.points), value(about.y, Math.floor(i / about.points)), margin === NONE ? "" : margin / 1e3]);
    });
    return csvLines(rows);
  }
}

function loopTable(loops: Loop[]): HTMLElement {
  const number = (name: string, pick: (loop: Loop) => number | null, quantity: Quantity, absent: string, unit = "") => ({
    name,
    number: true,
    value: pick,
    text: (loop: Loop) => (pick(loop) === null ? absent : `${show(pick(loop), quantity)}${unit}`),
  });
  return dataTable(
    "Loops, delay included exactly",
    [
      { name: "loop", value: (loop: Loop) => loop.name },
      number("crossover", (loop) => loop.crossover_rad_s, "plain", "none", " rad/s"),
      number("phase margin", (loop) => loop.phase_margin_deg, "plain", "unlimited", "\u00b0"),
      {
        name: "gain margin",
        number: true,
        value: (loop) => loop.gain_margin,
        text: (loop) => (loop.gain_margin === null ? (loop.gain_margin_is === "none" ? "none" : "unlimited") : show(loop.gain_margin, "plain")),
      },
      number("critical delay", (loop) => loop.critical_delay_s, "time", "unlimited"),
      number("settling time", (loop) => loop.settling_s, "time", "does not settle"),
      number("oscillation frequency", (loop) => loop.frequency_hz, "plain", "none", " Hz"),
      { name: "verdict", value: (loop) => (loop.stable ? "stable" : "unstable"), kind: (loop) => `verdict ${loop.stable ? "good" : "bad"}` },
    ],
    loops,
  );
}

function theoremTable(name: string, theorem: any): HTMLElement {
  type Condition = { name: string; formula: string; left: number | null; right: number | null; holds: boolean };
  const at = `a = ${(theorem.a as number[]).map((a) => digits(a)).join(" and ")}`;
  return dataTable(
    `Theorem 3 ${name}`,
    [
      { name: "", value: (one: Condition) => one.name },
      { name: "condition", value: (one) => one.formula },
      { name: "left", number: true, value: (one) => one.left, text: (one) => digits(one.left ?? NaN) },
      { name: "right", number: true, value: (one) => one.right, text: (one) => digits(one.right ?? NaN) },
      { name: "verdict", value: (one) => (one.holds ? "holds" : "fails"), kind: (one) => `verdict ${one.holds ? "good" : "bad"}` },
    ],
    theorem.conditions as Condition[],
    { note: at },
  );
}

/** What only BCN has: its theorems and what its paper states. */
function statedParts(about: Record<string, any>): HTMLElement[] {
  const parts: HTMLElement[] = [];
  const third = about["theorem_3"];
  if (third) parts.push(theoremTable("as stated", third["at_a"]), theoremTable("at each pole's own a", third["at_own_a"]));
  const claims = about["stated"] as { what: string; stated: number; follows: number | null; agrees: boolean; would_follow_from: Record<string, number> }[] | undefined;
  if (claims && claims.length > 0) {
    parts.push(
      dataTable(
        "Stated and derived values",
        [
          { name: "quantity", value: (claim) => claim.what },
          { name: "stated", number: true, value: (claim) => claim.stated, text: (claim) => digits(claim.stated) },
          { name: "derived", number: true, value: (claim) => claim.follows, text: (claim) => digits(claim.follows ?? NaN) },
          { name: "verdict", value: (claim) => (claim.agrees ? "agrees" : "does not follow"), kind: (claim) => `verdict ${claim.agrees ? "good" : "bad"}` },
          {
            name: "would follow from",
            value: (claim) => Object.entries(claim.would_follow_from).map(([name, value]) => `${name} = ${show(value, kindOf(name))}`).join(", or "),
            kind: () => "wide",
          },
        ],
        claims,
      ),
    );
  }
  return parts;
}

/** Where the model rests, and what becomes of unequal rates. */
function fixedPoint(about: NonNullable<Report["stability"]>): [string, string][] {
  const rest = about["equilibrium"];
  const longest = rest["longest_queue_bytes"];
  const points: [string, string][] =
    longest === undefined
      ? [
          ["equilibrium queue", show(rest["queue_bytes"], "size")],
          ["equilibrium rate of a source", show(rest["rate_bps"], "rate")],
        ]
      : [["fixed points", `any rates that fill the link, with any queue from ${show(rest["queue_bytes"], "size")} to ${show(longest, "size")}`]];
  if (rest["marking_probability"] !== undefined) points.push(["marking probability", digits(rest["marking_probability"])]);
  const shares = about["shares"] as { start: [number, number]; end: [number, number]; after_s: number } | undefined;
  if (shares) {
    const parts = (of: [number, number]) => of.map((part) => `${Math.round(100 * part)} %`).join(" and ");
    points.push(["shares of unequal halves", `${parts(shares.start)} of the fair share become ${parts(shares.end)} after ${show(shares.after_s, "time")}`]);
  }
  return points;
}

export async function stabilityPage(report: Report, into: HTMLElement): Promise<void> {
  const about = report.stability!;
  const loops = about["loops"] as Loop[];
  const says = (about["unstable_by"] ?? []) as string[];
  const all = says.length + ((about["stable_by"] ?? []) as string[]).length;
  const doubt = about["verdict"] === "in doubt" ? "in doubt: " : "";
  const verdict = about["stable"] ? "stable by every criterion" : `${doubt}unstable by ${says.length} of ${all} criteria`;
  const unstable: [string, string][] = says.length === 0 ? [] : [["unstable by", says.join(", ")]];
  const parameters = Object.entries(about["parameters"] as Record<string, number | null>);
  into.append(
    section(
      "Verdict",
      "verdict",
      facts([
        ["verdict", el("span", { class: `verdict ${about["stable"] ? "good" : "bad"}` }, verdict)],
        ...unstable,
        ["model", String(about["model"])],
        ["settling time (to 2 %)", about["settling_s"] === null ? "not determined" : show(about["settling_s"], "time")],
        ...(loops.length === 0 ? [] : [["oscillation frequency", `${digits(about["frequency_hz"])} Hz`] as [string, string]]),
        ...fixedPoint(about),
      ]),
      ...(loops.length === 0 ? [] : [loopTable(loops)]),
    ),
  );
  const map = about["map"] as MapAbout | undefined;
  if (map?.margins_millidegrees) {
    const { columns, base64 } = map.margins_millidegrees;
    const margins = unpackColumns(await inflate(base64), columns)["values"];
    const at = (name: string) => Number((about["parameters"] as Record<string, number>)[name]);
    const note = `minimum over all loops, delay included exactly; ${digits(map.stable_part * 100, 3)} % of the map is stable`;
    into.append(section("Map", "map", framed(new StabilityMap(map, margins, [at(map.x.name), at(map.y.name)]), note)));
  }
  if (loops.length > 0) into.append(section("Roots", "roots", framed(new RootPlot(loops), "dominant roots of each loop, delay included")));
  const trajectory = about["trajectory"] as { queue: [number, number][]; rate: [number, number][] } | undefined;
  if (trajectory && trajectory.queue.length > 0) {
    const end = trajectory.queue[trajectory.queue.length - 1][0] * 1e12;
    const link = new TimeLink(end);
    const chart = (title: string, quantity: Quantity, points: [number, number][], level: number) => {
      const series = new Series(Float64Array.from(points, ([t]) => t * 1e12), Float64Array.from(points, ([, y]) => y), false);
      return new TimeChart({ title, note: "dotted: equilibrium", y: title.toLowerCase(), quantity, link, lines: [{ name: title.toLowerCase(), weight: 1, make: () => series, level: { name: "equilibrium", at: level } }], height: 240 }).root;
    };
    into.append(
      section(
        "Fluid model over time",
        "trajectory",
        chart("Queue", "size", trajectory.queue, about["equilibrium"]["queue_bytes"]),
        chart("Rate of a source", "rate", trajectory.rate, about["equilibrium"]["rate_bps"]),
      ),
    );
  }
  const parts = statedParts(about);
  if (parts.length > 0) into.append(section("Theorems and statements", "theorems", ...parts));
  const rows = parameters.map(([name, value]) => ({ name, value }));
  const columns = [
    { name: "parameter", value: (row: (typeof rows)[number]) => row.name },
    { name: "value", number: true, value: (row: (typeof rows)[number]) => row.value, text: (row: (typeof rows)[number]) => show(row.value, kindOf(row.name)) },
  ];
  into.append(section("Parameters", "parameters", dataTable("Parameters of the fluid model", columns, rows)));
}
