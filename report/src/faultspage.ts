// The report of a campaign of faults: their ranks, what the worst ones do, and all runs.
import { dataTable, type Column } from "./datatable";
import { el } from "./dom";
import { show } from "./format";
import { GridChart } from "./gridchart";
import { facts, section } from "./shell";
import { cellTable } from "./sweeppage";
import type { FaultEffect, FaultsAbout, Quantity, Report } from "./types";

type Ranked = FaultsAbout["faults"][number];

/** Faults in a chart. */
const MOST = 12;

const percent = (part: number | null | undefined) => (typeof part === "number" ? `${(part * 100).toFixed(1)} %` : "\u2013");
const times = (ratio: number | null | undefined) => (typeof ratio === "number" ? `${ratio.toFixed(2)} \u00d7` : "\u2013");

function table(about: FaultsAbout): HTMLElement {
  const rows: Ranked[] = [...about.faults, { name: "no fault", kind: "", ...about.without }];
  const rank = new Map(about.faults.map((fault, at) => [fault, at + 1]));
  const number = (name: string, value: (effect: FaultEffect) => number | null | undefined, text: (effect: FaultEffect) => string, meaning = ""): Column<Ranked> => ({
    name,
    number: true,
    meaning,
    value: (row) => value(row) ?? null,
    text,
  });
  const columns: Column<Ranked>[] = [
    { name: "rank", number: true, value: (row) => rank.get(row) ?? null },
    { name: "fault", value: (row) => row.name },
    { name: "kind", value: (row) => row.kind },
    { name: "outcome", value: (row) => Object.entries(row.outcomes).map(([name, count]) => `${count} ${name}`).join(", ") },
    number("delivered", (row) => row.delivered, (row) => percent(row.delivered), "bytes, relative to the network without a fault"),
    number("completed", (row) => row.completed, (row) => percent(row.completed), "of all finite flows"),
    number("completion time", (row) => row.completion, (row) => times(row.completion), "mean, relative to the network without a fault; of the workload with the largest"),
    number("p99 completion time", (row) => row.p99_completion, (row) => times(row.p99_completion), "relative to the network without a fault; of the workload with the largest"),
    number("victim time", (row) => row.victim_seconds, (row) => show(row.victim_seconds, "time") || "\u2013", "time that flows lost to bottlenecks that are not on their paths"),
  ];
  if (rows.some((row) => (row.storms ?? 0) > 0)) {
    columns.push(number("PFC storms", (row) => row.storms, (row) => show(row.storms, "count") || "0", "detected by PFC watchdogs"));
    columns.push(number("dropped in storms", (row) => row.watchdog_frames, (row) => show(row.watchdog_frames, "count") || "0", "frames dropped by PFC watchdogs"));
  }
  return dataTable("Faults, the worst first", columns, rows, { note: "no completion time where fewer flows complete than without a fault" });
}

/** Bars of the worst faults, beside the network without one. */
function chart(about: FaultsAbout, title: string, note: string, [y, quantity]: [string, Quantity], value: (effect: FaultEffect) => number | null | undefined): HTMLElement[] {
  const worst = about.faults.slice(0, MOST).filter((fault) => typeof value(fault) === "number");
  if (worst.length === 0 || worst.every((fault) => value(fault) === value(about.without))) return [];
  const bar = (name: string, effect: FaultEffect) => {
    const level = value(effect) ?? 0;
    return { x: { text: name, number: null, quantity: null }, value: level, low: level, high: level };
  };
  const points = [bar("no fault", about.without), ...worst.map((fault) => bar(fault.name, fault))];
  return [new GridChart({ title, note, along: "fault", y, quantity, bars: true, lines: [{ name: title, points }] }).root];
}

export async function faultsPage(report: Report, into: HTMLElement): Promise<void> {
  const about = report.faults!;
  const charts = [
    ...chart(about, "Bytes delivered", "relative to the network without a fault", ["delivered", "plain"], (effect) => effect.delivered),
    ...chart(about, "Completion times, 99th percentile", "relative to the network without a fault; none where fewer flows complete", ["multiple", "plain"], (effect) => effect.p99_completion),
    ...chart(about, "Victim time", "time that flows lost to bottlenecks that are not on their paths", ["victim time", "time"], (effect) => effect.victim_seconds),
  ];
  const reached = about.faults.filter((fault) => (fault.delivered ?? 1) < 0.9995 || (fault.completed ?? 1) < (about.without.completed ?? 0));
  into.append(
    section(
      "Ranks",
      "ranks",
      facts([
        ["faults", String(about.faults.length)],
        ["seeds per fault", String(about.seeds.length)],
        ["deadlock", String(about.faults.filter((fault) => (fault.outcomes["deadlock"] ?? 0) > 0).length)],
        ["deliver or complete less", String(reached.length)],
      ]),
      table(about),
    ),
  );
  if (charts.length > 0) into.append(section("The worst", "worst", el("div", { class: "multiples wide" }, ...charts)));
  if (report.sweep) into.append(section("Table", "table", cellTable(report.sweep)));
}
