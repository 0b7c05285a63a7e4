// Opens the document of the page and shows what it holds.
import { readDocument } from "./data";
import { el } from "./dom";
import { comparePage } from "./comparepage";
import { paperPage } from "./paperpage";
import { runPage } from "./runpage";
import { head } from "./shell";
import { stabilityPage } from "./stabilitypage";
import { sweepPage } from "./sweeppage";
import { startTheme } from "./theme";
import type { Report } from "./types";

async function build(report: Report, into: HTMLElement): Promise<void> {
  switch (report.kind) {
    case "run":
      return runPage(report.runs[0], into);
    case "compare":
      return comparePage(report, into);
    case "sweep":
      return sweepPage(report, into);
    case "figure":
    case "paper":
      return paperPage(report, into);
    case "stability":
      return stabilityPage(report, into);
  }
}

async function start(): Promise<void> {
  const root = document.getElementById("report");
  if (!root) return;
  try {
    startTheme();
    const report = await readDocument();
    const { header, fill } = head(report);
    root.replaceChildren(header);
    await build(report, root);
    fill();
    // Whoever waits for the page, such as a test, sees that it stands.
    document.documentElement.dataset["took"] = String(Math.round(performance.now()));
    document.documentElement.dataset["ready"] = "true";
    if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  } catch (error) {
    root.replaceChildren(el("p", { class: "broken" }, `This report cannot be shown: ${String(error)}`));
    throw error;
  }
}

void start();
