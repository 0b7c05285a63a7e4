// The report of a sweep: every metric along its axes, as lines with confidence bands and as heat maps.
import { dataTable, type Column } from "./datatable";
import { choice, el } from "./dom";
import { axisName, digits, show } from "./format";
import { GridChart, type GridLine } from "./gridchart";
import { HeatMap } from "./heatmap";
import { CUT, interval, intervalText } from "./interval";
import { facts, section } from "./shell";
import type { Quantity, Report, Summary, SweepAbout } from "./types";
import { quantityOfUnit, spaced } from "./verdicts";

/** The quantity of a metric: as the scenario says, else as its name does. */
function quantityOf(sweep: SweepAbout, metric: string): Quantity {
  const unit = sweep.units?.[metric];
  if (unit) return quantityOfUnit(unit);
  if (metric.endsWith("(b/s)")) return "rate";
  if (metric.endsWith("(s)")) return "time";
  if (metric.endsWith("(B)")) return "size";
  return "plain";
}

const bare = (metric: string) => metric.replace(/ \([^)]*\)$/, "");

type Cell = SweepAbout["cells"][number];

function along(sweep: SweepAbout): number {
  const numbers = sweep.axes.findIndex((axis) => axis.values.length > 1 && axis.values.every((value) => value.number !== null));
  return numbers >= 0 ? numbers : 0;
}

/** The value a cell has on an axis, as its place there. */
function place(sweep: SweepAbout, axis: number, cell: Cell): number {
  const { name, raw, values } = sweep.axes[axis];
  const own = cell.values[name];
  const exact = raw.indexOf(own);
  return exact >= 0 ? exact : values.findIndex((value) => value.text === own.replace(/^"|"$/g, ""));
}

function lines(sweep: SweepAbout, metric: string, axis: number): GridLine[] {
  const made = new Map<string, GridLine>();
  for (const cell of sweep.cells) {
    const summary = cell.metrics[metric];
    const at = place(sweep, axis, cell);
    if (!summary || at < 0) continue;
    const others = sweep.axes.filter((other, number) => number !== axis && other.values.length > 1);
    const name = others.map(({ name }) => spaced(cell.values[name].replace(/^"|"$/g, ""))).join(", ") || bare(metric);
    const line = made.get(name) ?? { name, points: [] };
    made.set(name, line);
    const [low, high] = interval(summary);
    line.points.push({ x: sweep.axes[axis].values[at], value: summary.mean, low, high });
  }
  return [...made.values()];
}

/** What the lines of a chart along an axis are. */
function legendOf(sweep: SweepAbout, axis: number): { legend?: string } {
  const others = sweep.axes.filter((other, number) => number !== axis && other.values.length > 1);
  return others.length > 0 ? { legend: others.map(({ name }) => axisName(name)).join(", ") } : {};
}

function heat(sweep: SweepAbout, metric: string, x: number, y: number): HeatMap {
  const axis = (number: number) => ({ name: axisName(sweep.axes[number].name), values: sweep.axes[number].values.map((value) => value.text) });
  const sums = axis(y).values.map(() => axis(x).values.map(() => [0, 0]));
  for (const cell of sweep.cells) {
    const summary = cell.metrics[metric];
    const into = sums[place(sweep, y, cell)]?.[place(sweep, x, cell)];
    if (!summary || !into) continue;
    into[0] += summary.mean;
    into[1] += 1;
  }
  const cells = sums.map((row) => row.map(([sum, count]) => (count > 0 ? sum / count : null)));
  const note = sweep.axes.length > 2 ? "mean over the seeds and the other axes" : "mean over the seeds";
  return new HeatMap({ title: bare(metric), x: axis(x), y: axis(y), quantity: quantityOf(sweep, metric), cells, note });
}

/** All cells with all of their metrics. */
export function cellTable(sweep: SweepAbout): HTMLElement {
  return table(sweep, [...new Set(sweep.cells.flatMap((cell) => Object.keys(cell.metrics)))]);
}

function table(sweep: SweepAbout, metrics: string[]): HTMLElement {
  const columns: Column<Cell>[] = sweep.axes.map((axis) => ({
    name: axis.name,
    number: axis.values.every((value) => value.number !== null),
    value: (cell) => {
      const value = axis.values[place(sweep, sweep.axes.indexOf(axis), cell)];
      return value?.number ?? value?.text ?? cell.values[axis.name];
    },
    text: (cell) => cell.values[axis.name].replace(/^"|"$/g, ""),
  }));
  const outcome = (cell: Cell) => Object.entries(cell.outcomes).map(([name, count]) => `${count} ${name}`).join(", ");
  columns.push({ name: "outcome", value: outcome });
  for (const metric of metrics) {
    const text = (summary: Summary | null | undefined) => (summary ? intervalText(summary.mean, summary, quantityOf(sweep, metric)) : "");
    columns.push({ name: metric, number: true, value: (cell) => cell.metrics[metric]?.mean ?? null, text: (cell) => text(cell.metrics[metric]) });
  }
  return dataTable("All cells", columns, sweep.cells, { note: `mean \u00b1 half-width of the 95 % confidence interval of the mean over the seeds; ${CUT}` });
}

export async function sweepPage(report: Report, into: HTMLElement): Promise<void> {
  const sweep = report.sweep!;
  const metrics = [...new Set(sweep.cells.flatMap((cell) => Object.keys(cell.metrics)))];
  into.append(
    section(
      "Grid",
      "grid",
      facts([
        ["cells", String(sweep.cells.length)],
        ["seeds per cell", `${sweep.seeds.length} (${sweep.seeds.slice(0, 8).join(", ")}${sweep.seeds.length > 8 ? ", \u2026" : ""})`],
      ]),
      dataTable(
        "Axes",
        [
          { name: "key", value: (axis) => axis.name },
          { name: "values", value: (axis) => axis.values.map((value) => spaced(value.text)).join(", "), kind: () => "wide" },
        ],
        sweep.axes,
      ),
    ),
  );
  // A metric that is the same everywhere says so in a line and needs no chart.
  const varies = (metric: string) => new Set(sweep.cells.map((cell) => cell.metrics[metric]?.mean)).size > 1;
  const changing = metrics.filter(varies);
  const wide = sweep.axes.map((axis, number) => ({ axis, number })).filter(({ axis }) => axis.values.length > 1);
  const charts = section("Metrics along the axes", "lines");
  const holder = el("div", { class: "multiples wide" });
  const draw = (axis: number) => {
    const made = changing.map((metric) => new GridChart({ title: bare(metric), along: axisName(sweep.axes[axis].name), ...legendOf(sweep, axis), y: bare(metric), quantity: quantityOf(sweep, metric), bars: false, lines: lines(sweep, metric, axis) }));
    holder.replaceChildren(...made.map((chart) => chart.root));
  };
  if (sweep.axes.length > 0) {
    const first = along(sweep);
    if (wide.length > 1) {
      const options = wide.map(({ axis, number }): [string, string] => [String(number), axis.name]);
      charts.append(choice("along", options, String(first), (value) => draw(Number(value))));
    }
    draw(first);
    charts.append(holder);
    const same = metrics.filter((metric) => !varies(metric)).map((metric) => `${bare(metric)}: ${show(sweep.cells[0]?.metrics[metric]?.mean, quantityOf(sweep, metric)) || digits(0)}`);
    if (same.length > 0) charts.append(el("p", { class: "note" }, `Same in every cell: ${same.join("; ")}.`));
    into.append(charts);
  }
  if (wide.length > 1) {
    const maps = changing.map((metric) => heat(sweep, metric, wide[0].number, wide[1].number).root);
    into.append(section("Heat maps", "maps", el("div", { class: "multiples wide" }, ...maps)));
  }
  into.append(section("Table", "table", table(sweep, metrics)));
}
