// The report of a search: the given values beside the best, the front of two goals, and every goal over every key.
import { dataTable, type Column } from "./datatable";
import { el } from "./dom";
import { axisName, show } from "./format";
import { intervalText } from "./interval";
import { ScatterChart, type Dot, type DotKind } from "./scatterchart";
import { facts, section } from "./shell";
import { cellTable } from "./sweeppage";
import type { Candidate, Quantity, Report, TuneAbout } from "./types";
import { quantityOfUnit } from "./verdicts";

const GIVEN = "given values";
const BEST = "best";
const FRONT = "front";
const SOUND = "candidates";
const UNSOUND = "violate a condition";

/** Behind first. */
const KINDS: DotKind[] = [{ name: UNSOUND, faint: true }, { name: SOUND, faint: true }, { name: FRONT }, { name: GIVEN }, { name: BEST }];

const bare = (goal: string) => goal.replace(/ \([^)]*\)$/, "");

function standing(tune: TuneAbout, candidate: Candidate, at: number): string {
  if (at === tune.best) return BEST;
  if (candidate.is_given) return GIVEN;
  if (tune.goals.length > 1 && tune.front.includes(at)) return FRONT;
  return candidate.sound ? SOUND : UNSOUND;
}

function told(tune: TuneAbout, candidate: Candidate): string {
  const values = tune.keys.map(({ path }) => `${path} = ${candidate.values[path]?.text ?? ""}`);
  const goals = tune.goals.map(({ name, unit }) => `${bare(name)}: ${show(candidate.goals[name]?.mean, quantityOfUnit(unit), 3) || "-"}`);
  return [...values, ...goals].join("\n");
}

type Value = (candidate: Candidate) => number | null | undefined;

/** The candidates as points; those without a value have none. The front is joined where both axes are goals. */
function dots(tune: TuneAbout, x: Value, y: Value, isFront: boolean): Dot[] {
  return tune.candidates.flatMap((candidate, at) => {
    const [across, up] = [x(candidate), y(candidate)];
    if (typeof across !== "number" || typeof up !== "number") return [];
    const joined = isFront && tune.front.includes(at);
    return [{ x: across, y: up, text: told(tune, candidate), kind: standing(tune, candidate, at), joined }];
  });
}

function table(tune: TuneAbout, title: string, rows: number[]): HTMLElement {
  const columns: Column<number>[] = [
    {
      name: "",
      value: (at) => {
        const candidate = tune.candidates[at];
        const others = Object.entries(candidate.outcomes).filter(([outcome]) => outcome !== "finished");
        const kind = standing(tune, candidate, at);
        if (candidate.invalid) return `invalid: ${candidate.invalid}`;
        if (kind === UNSOUND && others.length > 0) return others.map(([outcome, count]) => `${count} ${outcome}`).join(", ");
        return kind === SOUND ? "" : candidate.is_given && at === tune.best ? `${BEST}, ${GIVEN}` : kind;
      },
    },
    ...tune.keys.map(({ path }): Column<number> => ({
      name: path,
      number: true,
      value: (at) => tune.candidates[at].values[path]?.number ?? tune.candidates[at].values[path]?.text ?? null,
      text: (at) => tune.candidates[at].values[path]?.text ?? "",
    })),
    ...tune.goals.map(({ name, unit }): Column<number> => ({
      name: bare(name),
      number: true,
      value: (at) => tune.candidates[at].goals[name]?.mean ?? null,
      text: (at) => {
        const summary = tune.candidates[at].goals[name];
        return summary ? intervalText(summary.mean, summary, quantityOfUnit(unit)) : "";
      },
    })),
  ];
  return dataTable(title, columns, rows, { note: "mean \u00b1 half-width of the 95 % confidence interval of the mean over the seeds" });
}

export async function searchPage(report: Report, into: HTMLElement): Promise<void> {
  const tune = report.tune!;
  const all = tune.candidates.map((_, at) => at);
  // The front is in the order of the first goal.
  const chosen = [...all.filter((at) => tune.candidates[at].is_given && !tune.front.includes(at)), ...tune.front];
  const goal = ({ name, maximise }: TuneAbout["goals"][number]) => `${bare(name)}, ${maximise ? "large" : "small"}`;
  into.append(
    section(
      "Result",
      "result",
      facts([
        ["goals", tune.goals.map(goal).join("; ")],
        ["conditions", tune.conditions.join("; ") || "all runs finish"],
        ["candidates", String(all.length)],
        ["meet all conditions", String(tune.candidates.filter((candidate) => candidate.sound).length)],
        ["seeds per candidate", String(tune.seeds.length)],
      ]),
      tune.best === null ? el("p", { class: "note" }, "No candidate meets all conditions.") : table(tune, tune.goals.length > 1 ? "Given values and the front" : "Given values and the best", chosen),
    ),
  );
  const axis = (at: number) => ({ label: bare(tune.goals[at].name), quantity: quantityOfUnit(tune.goals[at].unit) });
  const mean = (at: number) => (candidate: Candidate) => candidate.goals[tune.goals[at].name]?.mean;
  if (tune.goals.length > 1) {
    const chart = new ScatterChart("The goals", "a point for each candidate; nothing surpasses the front in both goals", axis(0), axis(1), KINDS, dots(tune, mean(0), mean(1), true));
    into.append(section("Goals", "goals", chart.root));
  }
  const charts = tune.keys.flatMap(({ path, logarithmic }) =>
    tune.goals.flatMap((_, at) => {
      const points = dots(tune, (candidate) => candidate.values[path]?.number, mean(at), false);
      if (points.length === 0) return [];
      const quantity = (tune.candidates[0].values[path]?.quantity ?? "plain") as Quantity;
      const along = { label: axisName(path), quantity, log: logarithmic };
      return [new ScatterChart(`${axis(at).label} over ${axisName(path)}`, "a point for each candidate", along, axis(at), KINDS, points).root];
    }),
  );
  if (charts.length > 0) into.append(section("Keys", "keys", el("div", { class: "multiples wide" }, ...charts)));
  into.append(section("Candidates", "candidates", table(tune, "All candidates", all)));
  if (report.sweep) into.append(section("Table", "table", cellTable(report.sweep)));
}
