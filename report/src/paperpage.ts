// The report of a paper or of one of its figures: what it draws, what it states, what we measured, and what is open.
import { networks, overlays } from "./comparepage";
import { dataTable, type Column } from "./datatable";
import { el, whenSeen } from "./dom";
import { axisName, show } from "./format";
import { GridChart } from "./gridchart";
import { TimeLink } from "./link";
import { markdown } from "./markdown";
import { pictureChart, pictureLines } from "./picture";
import { Run } from "./run";
import { pauseChart } from "./runcharts";
import { CUT, intervalText } from "./interval";
import { joinedNote, missingNote } from "./runtables";
import { facts, section } from "./shell";
import type { FigureAbout, Finding, GridChartAbout, Report, Statement, Summary, SummaryAbout, TimeChartAbout } from "./types";
import { expectedText, measuredText, quantityOfUnit, spaced, verdictKind, verdictText } from "./verdicts";

/** How roots and victims of a figure's runs are measured rather than estimated. */
const MEASURE_FIGURE = "probes.record with \"causes\" in the figure's scenario";

const lastName = (axis: string) => (axis.split(".").pop() ?? axis).replaceAll("_", " ");

function cellText(cell: Record<string, string> | undefined): string {
  return Object.entries(cell ?? {})
    .map(([axis, value]) => (axis === "variant" ? value : `${lastName(axis)} ${spaced(value)}`))
    .join(", ");
}

interface Stated {
  finding: Finding;
  trend: boolean;
  what: string;
  where: string;
  says: string;
  measured: string;
  verdict: string;
  choices: string;
  source: string;
  /** Whether it is ours, not the paper's. */
  own: boolean;
}

/** Shapes that compare the values along an axis, rather than all of them with one. */
const bound = (finding: Finding) => finding["shape"] === "above" || finding["shape"] === "below";

function trendText(finding: Finding): { says: string; where: string; measured: string } {
  const along = finding["along"] as string | null;
  const value = finding["value"] as string | null;
  const limits = Object.entries((finding["where"] as Record<string, string[]> | undefined) ?? {});
  const lines = (finding["lines"] as { cell: Record<string, string>; medians: { at: string; median: number | null }[] }[] | undefined) ?? [];
  const unit = quantityOfUnit(finding["unit"]);
  const line = (of: (typeof lines)[number]) => {
    const medians = of.medians.map(({ median }) => (median === null ? "not measured" : show(median, unit, 3))).join(" \u2192 ");
    const name = cellText(of.cell);
    return name === "" ? medians : `${name}: ${medians}`;
  };
  const medians = lines.flatMap((of) => of.medians.map(({ median }) => median)).filter((median): median is number => median !== null);
  const ends = [Math.min(...medians), Math.max(...medians)].map((value) => show(value, unit));
  // Of a bound it is enough to know between which values all lie.
  const range = ends[0] === ends[1] ? ends[0] : `${ends[0]} to ${ends[1]}`;
  const told = bound(finding) && medians.length > 0 ? range : lines.slice(0, 6).map(line).join("; ") + (lines.length > 6 ? `; and ${lines.length - 6} more lines` : "");
  const runs = Number(finding["runs"]);
  // Of a few values on the way it is said which they are.
  const steps = along ? (lines[0]?.medians.map(({ at }) => spaced(at)) ?? []) : [];
  const way = steps.length > 0 && steps.length <= 4 ? `: ${along === "variant" ? "" : `${lastName(along!)} `}${steps.join(" \u2192 ")}` : along ? ` along ${lastName(along)}` : "";
  const rest = limits.filter(([axis]) => axis !== along);
  return {
    says: `${String(finding["shape"])}${value ? ` ${spaced(value)}` : ""}${way}`,
    where: rest.map(([axis, values]) => (axis === "variant" ? values.join(", ") : `${lastName(axis)} ${values.map(spaced).join(", ")}`)).join("; "),
    measured: runs > 1 ? `${told} (holds in ${String(finding["kept"])} of ${runs} seeds)` : told,
  };
}

function stated(figure: FigureAbout): Stated[] {
  const choices = (finding: Finding) => {
    const flips = finding.under_other_choices.filter((other) => other.verdict !== finding.verdict_as_we_read_it);
    if (finding.under_other_choices.length === 0) return "";
    return flips.length === 0 ? "same under all choices" : flips.map((other) => `${other.choice} = ${other.value}: ${other.verdict}`).join("; ");
  };
  const common = (finding: Finding) => ({ finding, what: finding.name, verdict: verdictText(finding), choices: choices(finding), source: finding.source ?? "", own: finding.ours === true });
  const numbers = figure.numbers.map((finding) => ({ ...common(finding), trend: false, where: cellText(finding.cell), says: expectedText(finding), measured: measuredText(finding) }));
  const trends = figure.trends.map((finding) => ({ ...common(finding), trend: true, ...trendText(finding) }));
  return [...numbers, ...trends];
}

function verdictTable(title: string, says: string, rows: Stated[]): HTMLElement {
  const any = (pick: (row: Stated) => string) => rows.some((row) => pick(row) !== "");
  const columns: Column<Stated>[] = [
    { name: "quantity", value: (row) => row.what, kind: () => "wide" },
    { name: "conditions", value: (row) => row.where, kind: () => "wide" },
    { name: says, value: (row) => row.says, kind: () => "short" },
    { name: "measured", meaning: "median over the seeds (10th to 90th percentile)", value: (row) => row.measured, kind: () => "short" },
    { name: "verdict", value: (row) => row.verdict, kind: (row) => `verdict ${verdictKind(row.verdict)}` },
    { name: "under other readings", value: (row) => row.choices, kind: () => "wide" },
    { name: "source", value: (row) => row.source, kind: () => "wide" },
  ];
  return dataTable(title, columns.filter((column) => any((row) => String(column.value(row) ?? ""))), rows, { cards: true });
}

/** What the paper states, then what is ours. */
function verdictTables(rows: Stated[]): HTMLElement[] {
  const [paper, own] = [rows.filter((row) => !row.own), rows.filter((row) => row.own)];
  return [
    ...(paper.length > 0 ? [verdictTable("Statements of the paper and measurements", "stated", paper)] : []),
    ...(own.length > 0 ? [verdictTable("Further expectations and measurements", "expected", own)] : []),
  ];
}

function cellTable(figure: FigureAbout): HTMLElement {
  type Cell = FigureAbout["cells"][number];
  const axes = Object.keys(figure.cells[0]?.values ?? {});
  const names = [...new Set(figure.cells.flatMap((cell) => Object.keys(cell.quantities)))].filter((name) => figure.cells.some((cell) => cell.quantities[name]));
  const units = figure.units ?? {};
  const columns: Column<Cell>[] = [
    ...axes.map((axis): Column<Cell> => ({ name: axisName(axis), meaning: axis, value: (cell) => cell.values[axis] })),
    { name: "outcome", value: (cell) => [...new Set(cell.outcomes)].join(", ") },
    ...names.map((name): Column<Cell> => {
      const text = (summary: Summary | null | undefined) => (summary ? intervalText(summary.median, summary, quantityOfUnit(units[name])) : "");
      return { name, number: true, value: (cell) => cell.quantities[name]?.median ?? null, text: (cell) => text(cell.quantities[name]) };
    }),
  ];
  return dataTable("Measurements of every cell", columns, figure.cells, { note: `median \u00b1 half-width of the 95 % confidence interval of the mean over the seeds; ${CUT}` });
}

function choiceTable(figure: FigureAbout): HTMLElement {
  type Choice = FigureAbout["choices"][number];
  const columns: Column<Choice>[] = [
    { name: "choice", value: (choice) => choice.name },
    { name: "chosen", value: (choice) => spaced(choice.values[0]) },
    { name: "also tried", value: (choice) => choice.values.slice(1).map(spaced).join(", "), kind: () => "short" },
    { name: "reason", value: (choice) => choice.why ?? "", kind: () => "wide" },
    { name: "key", value: (choice) => choice.path },
  ];
  return dataTable("Choices not specified in the paper", columns, figure.choices, { cards: true });
}

const count = (statements: Statement[], kind: string) => statements.filter(({ verdict }) => verdictKind(verdict) === kind).length;
const measurements = (statements: Statement[]) => statements.reduce((sum, one) => sum + one.measurements, 0);

/** How many statements agree, each counted once, and how many measurements that rests on. */
function tally(statements: Statement[], short: boolean): HTMLElement {
  const one = (kind: string, word: string) => (count(statements, kind) > 0 ? el("span", { class: `verdict ${kind}` }, `${count(statements, kind)} ${word}`) : null);
  const from = measurements(statements) > statements.length ? ` from ${measurements(statements)} measurements` : "";
  return el("span", { class: "tally" }, one("good", "agree"), one("bad", "disagree"), one("doubt", "undetermined"), from, short ? " (short form)" : "");
}

const isShort = (figure: FigureAbout) => figure.folder.endsWith("-quick");

/** What the paper states of a point of a chart, if it states a number. */
function statedAt(figure: FigureAbout, chart: GridChartAbout, line: string, at: string): number | null {
  const fits = (finding: Finding) => {
    const named = line === finding.name || line.startsWith(`${finding.name}, `) || chart.y === finding.name || chart.title === finding.name;
    const others = Object.entries(finding.cell ?? {}).filter(([axis]) => axis !== chart.along);
    return named && finding.cell?.[chart.along] === at && others.every(([, value]) => line.includes(value));
  };
  const found = figure.numbers.find((finding) => finding["comparison"] === "=" && fits(finding));
  return (found?.["expected_value"] as number | null | undefined) ?? null;
}

/** A chart of the grid; nothing if there is nothing to compare in it. */
function gridChart(figure: FigureAbout, chart: GridChartAbout): HTMLElement | null {
  const values = chart.lines.flatMap((line) => line.points.map((point) => point.value));
  if (values.length < 2 || values.every((value) => value === 0)) return null;
  const lines = chart.lines.map((line) => ({
    name: line.name,
    points: line.points.map((point) => {
      const [low, high] = point.interval ?? [point.value, point.value];
      const wide = high - low > Math.abs(point.value) * 1e-9;
      return { x: point.x, value: point.value, low: wide ? low : point.value, high: wide ? high : point.value, stated: statedAt(figure, chart, line.name, point.at) };
    }),
  }));
  const along = chart.x === chart.along ? axisName(chart.along) : chart.x;
  return new GridChart({ title: chart.title, along: along === "variant" ? "" : along, legend: chart.legend ?? "", y: chart.y, quantity: chart.quantity, bars: chart.bars, lines }).root;
}

/** More variants than this are drawn small. */
const MANY = 4;

/** A chart over time, of every variant. */
function timeCharts(chart: TimeChartAbout, link: TimeLink, runs: Map<string, Run>): HTMLElement[] {
  const several = runs.size > 1;
  const nothing = (variants: string[]) =>
    variants.length === 0 ? [] : [el("p", { class: "note" }, `${chart.title}: no data${several ? ` for ${variants.join(", ")}` : ""}.`)];
  const group = (made: HTMLElement[], empty: string[]) => {
    if (!several) return [...made, ...nothing(empty)];
    return made.length > 0 ? [el("div", { class: "group" }, el("h4", {}, chart.title), el("div", { class: runs.size > MANY ? "multiples many" : "multiples wide" }, ...made), ...nothing(empty))] : nothing(empty);
  };
  if (chart.picture === "pauses") {
    const made = [...runs].map(([variant, run]) => ({ variant, made: pauseChart(run, link, several ? variant : chart.title) }));
    return group(made.flatMap(({ made }) => (made ? [made.root] : [])), made.filter(({ made }) => !made).map(({ variant }) => variant));
  }
  const drawn = [...runs].map(([variant, run]) => ({ variant, run, lines: pictureLines(run, chart, variant) }));
  const full = drawn.filter(({ lines }) => lines.length > 0);
  // Variants are there to be compared: they share their scale.
  const most = Math.max(0, ...full.flatMap(({ run, lines }) => lines.map((line) => line.make().extremes(0, run.end)[1])));
  return group(
    full.map(({ variant, run, lines }) => pictureChart(run, chart, lines, variant, link, most, runs.size > MANY).root),
    drawn.filter(({ lines }) => lines.length === 0).map(({ variant }) => variant),
  );
}

/** The charts of a figure: those that the paper draws first. */
async function charts(figure: FigureAbout, link: TimeLink, runs: Map<string, Run>, into: HTMLElement): Promise<void> {
  const all = figure.charts ?? [];
  const overTime = all.some((chart) => chart.kind === "time");
  if (overTime) await Promise.all([...runs.values()].map((run) => run.load()));
  const joined = overTime ? joinedNote([...runs.values()]) : null;
  // What the paper draws, then the course of things, then numbers.
  const rank = (chart: (typeof all)[number]) => (/^figure/i.test(chart.title) ? 0 : chart.kind === "time" ? 1 : 2);
  for (const chart of [...all].sort((a, b) => rank(a) - rank(b))) {
    if (chart.kind === "time") into.append(...timeCharts(chart, link, runs));
    else into.append(...[gridChart(figure, chart)].filter((made) => made !== null));
  }
  if (joined) into.append(joined);
}

/** What the paper calls a figure, by the name of its file; the name itself if the paper has none such. */
function figureName(figure: FigureAbout): string {
  const [, number, part] = /^fig(\d+)([a-z]?)$/.exec(figure.figure) ?? [];
  return number === undefined ? figure.figure : `Figure ${number}${part ? `(${part})` : ""}`;
}

function figureCard(figure: FigureAbout, report: Report): HTMLElement {
  const rows = stated(figure);
  const seeds = figure.seeds.length;
  const short = isShort(figure) ? ", short form" : "";
  const name = figureName(figure);
  const heading = name === figure.figure ? figure.title : `${name}: ${figure.title}`;
  const note = `${figure.figure} \u00b7 ${seeds} ${seeds === 1 ? "seed" : "seeds"} of ${spaced(figure.simulated)}${short}`;
  const drawn = el("div", { class: "multiples wide" });
  const card = el("article", { class: "figure", id: `figure-${figure.folder}` }, el("h3", {}, heading), el("p", { class: "note" }, note, " ", tally(figure.statements, isShort(figure))), drawn);
  const abouts = (figure.runs ?? []).filter((run) => run.run !== undefined);
  const link = new TimeLink(Math.max(1, ...abouts.map(({ run }) => report.runs[run!].manifest.simulated_ps)));
  const pictured = new Map(abouts.map(({ variant, run }) => [variant, new Run(report.runs[run!], link, true)]));
  const whole = abouts.filter(({ run }) => report.runs[run!].whole);
  const runs = whole.map(({ run }) => new Run(report.runs[run!], link));
  whenSeen(card, () => charts(figure, link, pictured, drawn));
  card.append(...verdictTables(rows));
  const [seen, series] = runs.length > 0 ? runParts(figure, link, runs) : [null, null];
  if (seen) card.append(seen);
  if (figure.choices.length > 0) card.append(choiceTable(figure));
  if (figure.cells.length > 0) card.append(el("details", {}, el("summary", {}, "Measurements of every cell"), cellTable(figure)));
  if (series) card.append(series);
  const rest = missingNote(abouts.filter((about) => !whole.includes(about)));
  if (rest) card.append(rest);
  return card;
}

/** The networks of a figure that the paper has are to be seen at once; those of others, and all series, on request. */
function runParts(figure: FigureAbout, link: TimeLink, runs: Run[]): [HTMLElement, HTMLElement] {
  const variants = `of ${runs.length} variants`;
  const seen = el("div", { class: "networks" });
  const title = el("summary", {}, runs.length === 1 ? "Run: network and series" : `Runs: networks and series ${variants}`);
  const body = el("div");
  const details = el("details", { class: "runs" }, title, body);
  // Lossy networks have no congestion tree to draw, and large ones are not legible in this size.
  const atOnce = async () => {
    if (!figure.figure.startsWith("fig") || runs.length > 4) return false;
    await Promise.all(runs.map((run) => run.open()));
    return runs.every((run) => !run.lossy() && run.nodes.length <= 60);
  };
  whenSeen(seen, async () => {
    if (!(await atOnce())) return;
    title.textContent = runs.length === 1 ? "All series of the run" : `All series ${variants}`;
    await Promise.all(runs.map((run) => run.load()));
    seen.append(runs.length === 1 ? "" : el("h4", {}, "Networks"), ...networks(runs, link, MEASURE_FIGURE));
  });
  let made = false;
  details.addEventListener("toggle", async () => {
    if (made || !details.open) return;
    made = true;
    await Promise.all(runs.map((run) => run.load()));
    if (!(await atOnce())) body.append(...networks(runs, link, MEASURE_FIGURE));
    overlays(runs, link, (heading, _, ...children) => body.append(el("h4", {}, heading), ...children));
    const joined = joinedNote(runs);
    if (joined) body.append(joined);
  });
  return [seen, details];
}

/** What the paper says of several figures together, and the matrices that show it. */
function summed(summary: SummaryAbout): HTMLElement[] {
  type Sentence = SummaryAbout["sentences"][number];
  const flips = (row: Sentence) => row.otherwise.map((other) => `${other.choice} = ${other.value}: ${other.verdict}`).join("; ");
  const sources = [...new Set(summary.sentences.map((row) => row.source ?? ""))];
  const columns: Column<Sentence>[] = [
    { name: "variant", value: (row) => row.of },
    { name: "statement", value: (row) => row.says, text: (row) => `\u201c${row.says}\u201d`, kind: () => "wide" },
    { name: "interpretation", value: (row) => row.measure, kind: () => "wide" },
    { name: "expected", value: (row) => row.expected_text },
    { name: "measured", value: (row) => row.measured_text, kind: () => "short" },
    { name: "verdict", value: verdictText, kind: (row) => `verdict ${verdictKind(row.verdict)}` },
    { name: "under other readings", value: flips, kind: () => "wide" },
    { name: "source", value: (row) => row.source ?? "", kind: () => "short" },
  ];
  // A place that all share is said once.
  const shown = columns.filter((column) => (column.name === "source" ? sources.length > 1 : summary.sentences.some((row) => column.value(row) !== "")));
  const note = { cards: true, ...(sources.length === 1 && sources[0] !== "" ? { note: `source: ${sources[0]}` } : {}) };
  const sentences = summary.sentences.length > 0 ? [dataTable("Statements about several figures", shown, summary.sentences, note)] : [];
  const matrices = summary.matrices.map((matrix) => {
    type Row = (typeof matrix.rows)[number];
    const medians = matrix.rows.flatMap((row) => row.cells.map((cell) => cell?.median)).filter((median) => median !== undefined);
    const [least, most] = [Math.min(...medians), Math.max(...medians)];
    // What differs by less than people see has one shade.
    const differ = most - least > 0.02 * Math.max(Math.abs(least), Math.abs(most));
    const places = matrix.figures.map((_, place) => place).sort((a, b) => matrix.figures[a].localeCompare(matrix.figures[b], "en", { numeric: true }));
    const cells = places.map((place): Column<Row> => {
      const figure = matrix.figures[place];
      return {
        name: figure,
        number: true,
        value: (row) => row.cells[place]?.median ?? null,
        text: (row) => (row.cells[place] ? show(row.cells[place]!.median, quantityOfUnit(matrix.unit), 3) : ""),
        shade: (row) => (row.cells[place] && differ ? (row.cells[place]!.median - least) / (most - least) : 0),
      };
    });
    const table = dataTable(matrix.title, [{ name: "variant", value: (row: Row) => row.variant }, ...cells], matrix.rows, { note: `median over the seeds${differ ? "; darker: higher" : ""}` });
    return { title: matrix.title, table };
  });
  // One after the other they would be pages: the first is open.
  const folded = matrices.map(({ title, table }, i) => {
    const details = el("details", {}, el("summary", {}, title), table);
    details.open = i === 0;
    return details;
  });
  return [...sentences, ...folded];
}

/** Figures of the paper first, then what was added to it. */
function ordered(figures: FigureAbout[]): FigureAbout[] {
  const rank = (figure: FigureAbout) => (figure.figure.startsWith("fig") ? 0 : figure.figure.startsWith("beyond") ? 2 : 1);
  return [...figures].sort((a, b) => rank(a) - rank(b) || a.folder.localeCompare(b.folder, "en", { numeric: true }));
}

export async function paperPage(report: Report, into: HTMLElement): Promise<void> {
  const figures = ordered(report.figures ?? []);
  const { paper } = report;
  const statements = report.statements ?? [];
  const [theirs, ours] = [statements.filter((one) => !one.ours), statements.filter((one) => one.ours)];
  const short = figures.every(isShort);
  const by = [(paper?.authors ?? []).join(", "), paper?.publisher ?? "", paper?.year ? String(paper.year) : ""].filter((text) => text !== "");
  const about: [string, string | HTMLElement][] = [
    ...(paper ? [] : [["paper", figures[0]?.paper ?? ""] as [string, string]]),
    ["statements of the paper", theirs.length > 0 ? tally(theirs, short) : ""],
    ["further expectations", ours.length > 0 ? tally(ours, short) : ""],
  ];
  const top = section("The paper", "paper", by.length > 0 ? el("p", { class: "byline" }, by.join(" \u00b7 ")) : null, facts(about));
  if (figures.some(isShort)) {
    const which = short ? "These are" : "Some of these are";
    top.append(el("p", { class: "note" }, `${which} short forms: one seed, a part of the time, one reading. The notes give the verdicts of the full runs.`));
  }
  if (figures.length > 1) {
    const columns: Column<FigureAbout>[] = [
      { name: "figure", value: figureName, link: (figure) => `figure-${figure.folder}` },
      { name: "title", value: (figure) => figure.title, kind: () => "wide" },
      { name: "agree", meaning: "statements, each counted once", number: true, value: (figure) => count(figure.statements, "good") },
      { name: "disagree", number: true, value: (figure) => count(figure.statements, "bad"), kind: (figure) => (count(figure.statements, "bad") > 0 ? "less" : "") },
      { name: "undetermined", number: true, value: (figure) => count(figure.statements, "doubt") },
      { name: "measurements", meaning: "cells, trends and measures on which the statements are based", number: true, value: (figure) => measurements(figure.statements) },
    ];
    const judged = figures.some((figure) => figure.statements.length > 0);
    top.append(dataTable("All figures", judged ? columns : columns.slice(0, 2), figures));
  }
  const missing = paper?.missing ?? [];
  const columns: Column<(typeof missing)[number]>[] = [
    { name: "statement", value: ({ name }) => name, kind: () => "wide" },
    { name: "reason", value: ({ why }) => why, kind: () => "wide" },
  ];
  if (missing.length > 0) top.append(el("details", {}, el("summary", {}, `Not checked: ${missing.length} statements`), dataTable("Not checked", columns, missing, { cards: true })));
  into.append(top);
  if (report.summary) into.append(section("All figures together", "together", ...summed(report.summary)));
  into.append(section(figures.length === 1 ? "The figure" : "Figures", "figures", ...figures.map((figure) => figureCard(figure, report))));
  if (paper && paper.notes.trim() !== "") into.append(section("Notes", "notes", markdown(paper.notes)));
}
