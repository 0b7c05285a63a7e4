// The report of a paper or of one of its figures: what it draws, what it states, what we measured, and what is open.
import { sideBySide } from "./comparepage";
import { dataTable, type Column } from "./datatable";
import { el, whenSeen } from "./dom";
import { show } from "./format";
import { GridChart } from "./gridchart";
import { TimeLink } from "./link";
import { markdown } from "./markdown";
import { pictureChart, pictureLines } from "./picture";
import { Run } from "./run";
import { pauseChart } from "./runcharts";
import { facts, section } from "./shell";
import type { FigureAbout, Finding, GridChartAbout, Report, Summary, SummaryAbout } from "./types";
import { expectedText, measuredText, quantityOfUnit, verdictKind } from "./verdicts";

function cellText(cell: Record<string, string> | undefined): string {
  return Object.entries(cell ?? {})
    .map(([axis, value]) => (axis === "variant" ? value : `${axis.split(".").pop()} ${value}`))
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
}

function trendText(finding: Finding): { says: string; where: string; measured: string } {
  const along = finding["along"] as string | null;
  const value = finding["value"] as string | null;
  const limits = Object.entries((finding["where"] as Record<string, string[]> | undefined) ?? {});
  const lines = (finding["lines"] as { cell: Record<string, string>; medians: { at: string; median: number | null }[] }[] | undefined) ?? [];
  const unit = quantityOfUnit(finding["unit"]);
  const line = (of: (typeof lines)[number]) => {
    const medians = of.medians.map(({ median }) => (median === null ? "nothing" : show(median, unit))).join(", ");
    const name = cellText(of.cell);
    return name === "" ? medians : `${name}: ${medians}`;
  };
  const medians = lines.flatMap((of) => of.medians.map(({ median }) => median)).filter((median): median is number => median !== null);
  const bound = finding["shape"] === "above" || finding["shape"] === "below";
  const ends = [Math.min(...medians), Math.max(...medians)].map((value) => show(value, unit));
  // Of a bound it is enough to know between which values all lie.
  const range = ends[0] === ends[1] ? ends[0] : `${ends[0]} to ${ends[1]}`;
  const told = bound && medians.length > 0 ? range : lines.slice(0, 6).map(line).join("; ") + (lines.length > 6 ? `; and ${lines.length - 6} more lines` : "");
  return {
    says: `${String(finding["shape"])}${value ? ` ${value}` : ""}${along ? ` along ${along.split(".").pop()}` : ""}`,
    where: limits.map(([axis, values]) => (axis === "variant" ? values.join(", ") : `${axis.split(".").pop()} ${values.join(", ")}`)).join("; "),
    measured: `${told} (kept by ${String(finding["kept"])} of ${String(finding["runs"])} seeds)`,
  };
}

function stated(figure: FigureAbout): Stated[] {
  const choices = (finding: Finding) => {
    const flips = finding.under_other_choices.filter((other) => other.verdict !== finding.verdict_as_we_read_it);
    if (finding.under_other_choices.length === 0) return "";
    return flips.length === 0 ? "same under all choices" : flips.map((other) => `${other.choice} = ${other.value}: ${other.verdict}`).join("; ");
  };
  const common = (finding: Finding) => ({ finding, what: finding.name, verdict: finding.verdict, choices: choices(finding), source: finding.source ?? "" });
  const numbers = figure.numbers.map((finding) => ({ ...common(finding), trend: false, where: cellText(finding.cell), says: expectedText(finding), measured: measuredText(finding) }));
  const trends = figure.trends.map((finding) => ({ ...common(finding), trend: true, ...trendText(finding) }));
  return [...numbers, ...trends];
}

function verdictTable(rows: Stated[]): HTMLElement {
  const any = (pick: (row: Stated) => string) => rows.some((row) => pick(row) !== "");
  const columns: Column<Stated>[] = [
    { name: "what", value: (row) => row.what, kind: () => "wide" },
    { name: "where", value: (row) => row.where, kind: () => "wide" },
    { name: "the paper says", value: (row) => row.says },
    { name: "measured", meaning: "median over the seeds, and from the 10th to the 90th percentile", value: (row) => row.measured, kind: () => "wide" },
    { name: "verdict", value: (row) => row.verdict, kind: (row) => `verdict ${verdictKind(row.verdict)}` },
    { name: "under other readings", value: (row) => row.choices, kind: () => "wide" },
    { name: "stated in", value: (row) => row.source, kind: () => "wide" },
  ];
  return dataTable("What the paper states, and what we measured", columns.filter((column) => any((row) => String(column.value(row) ?? ""))), rows);
}

function cellTable(figure: FigureAbout): HTMLElement {
  type Cell = FigureAbout["cells"][number];
  const axes = Object.keys(figure.cells[0]?.values ?? {});
  const names = [...new Set(figure.cells.flatMap((cell) => Object.keys(cell.quantities)))].filter((name) => figure.cells.some((cell) => cell.quantities[name]));
  const units = figure.units ?? {};
  const columns: Column<Cell>[] = [
    ...axes.map((axis): Column<Cell> => ({ name: axis, value: (cell) => cell.values[axis] })),
    { name: "outcome", value: (cell) => [...new Set(cell.outcomes)].join(", ") },
    ...names.map((name): Column<Cell> => {
      const text = (summary: Summary | null | undefined) => {
        if (!summary) return "";
        const half = summary.half_width_95 === null ? "" : ` \u00b1 ${show(summary.half_width_95, quantityOfUnit(units[name]), 3)}`;
        return `${show(summary.median, quantityOfUnit(units[name]))}${half}`;
      };
      return { name, number: true, value: (cell) => cell.quantities[name]?.median ?? null, text: (cell) => text(cell.quantities[name]) };
    }),
  ];
  return dataTable("Measured in every cell", columns, figure.cells, { note: "median \u00b1 half of the 95 % interval of the mean over the seeds" });
}

function choiceTable(figure: FigureAbout): HTMLElement {
  type Choice = FigureAbout["choices"][number];
  const columns: Column<Choice>[] = [
    { name: "open", value: (choice) => choice.name },
    { name: "we take", value: (choice) => choice.values[0] },
    { name: "also tried", value: (choice) => choice.values.slice(1).join(", ") },
    { name: "why it is open", value: (choice) => choice.why ?? "", kind: () => "wide" },
    { name: "key", value: (choice) => choice.path },
  ];
  return dataTable("What the paper leaves open", columns, figure.choices);
}

function tally(rows: Stated[]): HTMLElement {
  const count = (kind: string) => rows.filter((row) => verdictKind(row.verdict) === kind).length;
  const one = (kind: string, word: string) => (count(kind) > 0 ? el("span", { class: `verdict ${kind}` }, `${count(kind)} ${word}`) : null);
  return el("span", { class: "tally" }, one("good", "agree"), one("bad", "disagree"), one("doubt", "undetermined"));
}

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

/** The charts of a figure as the paper draws them. */
async function charts(figure: FigureAbout, link: TimeLink, runs: Map<string, Run>, into: HTMLElement): Promise<void> {
  for (const chart of figure.charts ?? []) {
    if (chart.kind === "grid") {
      const lines = chart.lines.map((line) => ({
        name: line.name,
        points: line.points.map((point) => ({ x: point.x, value: point.value, half: point.half_width, stated: statedAt(figure, chart, line.name, point.at) })),
      }));
      into.append(new GridChart({ title: chart.title, along: chart.along, y: chart.y, quantity: chart.quantity, bars: chart.bars, lines }).root);
    }
  }
  const times = (figure.charts ?? []).filter((chart) => chart.kind === "time");
  if (times.length === 0) return;
  await Promise.all([...runs.values()].map((run) => run.load()));
  for (const chart of times) {
    if (chart.picture === "pauses") {
      for (const [variant, run] of runs) {
        const made = pauseChart(run, link, variant === "" ? chart.title : `${chart.title} \u00b7 ${variant}`);
        into.append(made?.root ?? el("p", { class: "note" }, `${chart.title}: no port had to pause${variant === "" ? "" : ` in ${variant}`}.`));
      }
      continue;
    }
    const drawn = [...runs].map(([variant, run]) => ({ variant, run, lines: pictureLines(run, chart, variant) }));
    const full = drawn.filter(({ lines }) => lines.length > 0);
    // Variants are there to be compared: they share their scale.
    const most = Math.max(0, ...full.flatMap(({ run, lines }) => lines.map((line) => line.make().extremes(0, run.end)[1])));
    for (const { variant, run, lines } of full) {
      const title = variant === "" ? chart.title : `${chart.title} \u00b7 ${variant}`;
      into.append(pictureChart(run, chart, lines, title, link, most).root);
    }
    const empty = drawn.filter(({ lines }) => lines.length === 0).map(({ variant }) => variant);
    if (empty.length > 0) into.append(el("p", { class: "note" }, `${chart.title}: there is nothing to draw of ${empty.join(", ") || "it"}.`));
  }
}

function figureCard(figure: FigureAbout, report: Report): HTMLElement {
  const rows = stated(figure);
  const seeds = figure.seeds.length;
  const short = figure.folder.endsWith("-quick") ? ", short form" : "";
  const note = `${figure.figure} \u00b7 ${seeds} ${seeds === 1 ? "seed" : "seeds"} of ${figure.simulated}${short}`;
  const drawn = el("div", { class: "multiples wide" });
  const card = el("article", { class: "figure", id: `figure-${figure.folder}` }, el("h3", {}, figure.title), el("p", { class: "note" }, note, " ", tally(rows)), drawn);
  const abouts = (figure.runs ?? []).filter((run) => run.run !== undefined);
  const link = new TimeLink(Math.max(1, ...abouts.map(({ run }) => report.runs[run!].manifest.simulated_ps)));
  const runs = new Map(abouts.map(({ variant, run }) => [variant, new Run(report.runs[run!], link)]));
  whenSeen(card, () => void charts(figure, link, runs, drawn));
  if (rows.length > 0) card.append(verdictTable(rows));
  if (figure.choices.length > 0) card.append(choiceTable(figure));
  if (figure.cells.length > 0) card.append(el("details", {}, el("summary", {}, "Measured in every cell"), cellTable(figure)));
  if (runs.size > 0) {
    const body = el("div");
    const details = el("details", { class: "runs" }, el("summary", {}, runs.size === 1 ? "The run: its network and series" : `The runs: networks and series of ${runs.size} variants`), body);
    let made = false;
    details.addEventListener("toggle", () => {
      if (made || !details.open) return;
      made = true;
      void sideBySide([...runs.values()], link, (title, _, ...children) => body.append(el("h4", {}, title), ...children));
    });
    card.append(details);
  }
  return card;
}

/** What the paper says of several figures together, and the matrices that show it. */
function summed(summary: SummaryAbout): HTMLElement[] {
  type Sentence = SummaryAbout["sentences"][number];
  const flips = (row: Sentence) => row.otherwise.map((other) => `${other.choice} = ${other.value}: ${other.verdict}`).join("; ");
  const columns: Column<Sentence>[] = [
    { name: "of", value: (row) => row.of },
    { name: "the paper says", value: (row) => row.says, kind: () => "wide" },
    { name: "measure", value: (row) => row.measure, kind: () => "wide" },
    { name: "expected", value: (row) => row.expected_text },
    { name: "measured", value: (row) => row.measured_text },
    { name: "verdict", value: (row) => row.verdict, kind: (row) => `verdict ${verdictKind(row.verdict)}` },
    { name: "under other readings", value: flips, kind: () => "wide" },
    { name: "stated in", value: (row) => row.source ?? "", kind: () => "wide" },
  ];
  const sentences = summary.sentences.length > 0 ? [dataTable("What the paper says of its figures together", columns, summary.sentences)] : [];
  const matrices = summary.matrices.map((matrix) => {
    type Row = (typeof matrix.rows)[number];
    const cells = matrix.figures.map(
      (figure, place): Column<Row> => ({
        name: figure,
        number: true,
        value: (row) => row.cells[place]?.median ?? null,
        text: (row) => (row.cells[place] ? show(row.cells[place]!.median, quantityOfUnit(matrix.unit)) : ""),
      }),
    );
    return dataTable(matrix.title, [{ name: "variant", value: (row: Row) => row.variant }, ...cells], matrix.rows, { note: "median of the seeds" });
  });
  return [...sentences, ...matrices];
}

/** Figures of the paper first, then what was added to it. */
function ordered(figures: FigureAbout[]): FigureAbout[] {
  const rank = (figure: FigureAbout) => (figure.figure.startsWith("fig") ? 0 : figure.figure.startsWith("beyond") ? 2 : 1);
  return [...figures].sort((a, b) => rank(a) - rank(b) || a.folder.localeCompare(b.folder, "en", { numeric: true }));
}

export async function paperPage(report: Report, into: HTMLElement): Promise<void> {
  const figures = ordered(report.figures ?? []);
  const { paper } = report;
  const all = figures.flatMap(stated);
  const about: [string, string | HTMLElement][] = [
    ["paper", paper?.title ?? figures[0]?.paper ?? ""],
    ["authors", (paper?.authors ?? []).join(", ")],
    ["year", paper?.year ? String(paper.year) : ""],
    ["published", paper?.publisher ?? ""],
    ["verdicts", tally(all)],
  ];
  const top = section("The paper", "paper", facts(about));
  if (figures.length > 1) {
    type Row = { figure: FigureAbout; rows: Stated[] };
    const count = (kind: string) => (row: Row) => row.rows.filter((one) => verdictKind(one.verdict) === kind).length;
    const columns: Column<Row>[] = [
      { name: "figure", value: (row) => row.figure.folder },
      { name: "title", value: (row) => row.figure.title, kind: () => "wide" },
      { name: "agree", number: true, value: count("good") },
      { name: "disagree", number: true, value: count("bad"), kind: (row) => (count("bad")(row) > 0 ? "less" : "") },
      { name: "undetermined", number: true, value: count("doubt") },
    ];
    top.append(dataTable("All figures", columns, figures.map((figure) => ({ figure, rows: stated(figure) }))));
  }
  into.append(top);
  if (report.summary) into.append(section("All figures together", "together", ...summed(report.summary)));
  into.append(section(figures.length === 1 ? "The figure" : "Figures", "figures", ...figures.map((figure) => figureCard(figure, report))));
  if (paper && paper.notes.trim() !== "") into.append(section("Notes", "notes", markdown(paper.notes)));
}
