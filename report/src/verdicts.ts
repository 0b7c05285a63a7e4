// What was expected and what was measured, in words.
import { dataTable, type Column } from "./datatable";
import { digits, show } from "./format";
import type { Finding, Quantity, Summary } from "./types";

export function verdictKind(verdict: string): "good" | "bad" | "doubt" {
  if (verdict.startsWith("disagree")) return "bad";
  return verdict.startsWith("agree") || verdict.startsWith("trend agree") ? "good" : "doubt";
}

/** The verdict, and why nothing is determined. */
export const verdictText = ({ verdict, reason }: { verdict: string; reason?: string | null }): string => (reason ? `${verdict}: ${reason}` : verdict);

export const quantityOfUnit = (unit: unknown): Quantity => (unit === "outcome" || unit === undefined ? "plain" : (unit as Quantity));

/** A number and its unit as a scenario writes them, apart. */
export const spaced = (text: string): string => text.replace(/^([\d.]+)([a-zA-Z]+(\/s)?)$/, "$1 $2");

export function expectedText(finding: Finding): string {
  const comparison = String(finding["comparison"] ?? "=");
  const value = spaced(String(finding["expected"] ?? ""));
  const tolerance = Number(finding["tolerance"] ?? 0);
  const near = comparison === "=" && tolerance > 0 ? ` \u00b1 ${digits(tolerance * 100, 3)} %` : "";
  return `${comparison === "=" ? "" : `${comparison} `}${value}${near}`;
}

export function measuredText(finding: Finding): string {
  const summary = finding["measured"] as Summary | null;
  if (!summary) return [...new Set((finding["outcomes"] as string[] | undefined) ?? [])].join(", ");
  const unit = quantityOfUnit(finding["unit"]);
  const spread = summary.runs > 1 ? ` (${show(summary.p10, unit)} to ${show(summary.p90, unit)})` : "";
  return `${show(summary.median, unit)}${spread}`;
}

/** What a scenario expects of its run. */
export function expectationTable(findings: Finding[]): HTMLElement {
  const columns: Column<Finding>[] = [
    { name: "quantity", value: (finding) => finding.name },
    { name: "expected", value: (finding) => (finding["expected"] === null ? "" : expectedText(finding)) },
    { name: "measured", value: measuredText },
    { name: "verdict", value: (finding) => (finding["expected"] === null ? "" : finding.verdict), kind: (finding) => (finding["expected"] === null ? "" : `verdict ${verdictKind(finding.verdict)}`) },
    { name: "source", value: (finding) => finding.source ?? "", kind: () => "wide" },
  ];
  const expects = findings.some((finding) => finding["expected"] !== null);
  return dataTable(expects ? "Expectations" : "Measurements", columns.filter((column) => findings.some((finding) => column.value(finding) !== "")), findings, { cards: true });
}
