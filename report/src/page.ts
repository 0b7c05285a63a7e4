// The page: opens its document and shows what it holds.
import { readDocument } from "./data";
import { el } from "./dom";
import { comparePage } from "./comparepage";
import { faultsPage } from "./faultspage";
import { paperPage } from "./paperpage";
import { runPage } from "./runpage";
import { head } from "./shell";
import { stabilityPage } from "./stabilitypage";
import { searchPage } from "./searchpage";
import { sweepPage } from "./sweeppage";
import { startTheme } from "./theme";
import { takeTurns } from "./turns";
import type { Report } from "./types";

export async function build(report: Report, into: HTMLElement): Promise<void> {
  switch (report.kind) {
    case "run":
      return runPage(report.runs[0], into);
    case "compare":
      return comparePage(report, into);
    case "sweep":
      return sweepPage(report, into);
    case "faults":
      return faultsPage(report, into);
    case "tune":
      return searchPage(report, into);
    case "figure":
    case "paper":
      return paperPage(report, into);
    case "stability":
      return stabilityPage(report, into);
    case "lab":
      throw new Error("this page was written without its simulator");
  }
}

/** A frame was drawn and shown; a page that nobody looks at has none. */
function painted(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

/** Shows the page; `build` fills it. */
export async function start(build: (report: Report, into: HTMLElement) => Promise<void>): Promise<void> {
  const root = document.getElementById("report");
  if (!root) return;
  try {
    startTheme();
    const report = await readDocument();
    const { header, fill } = head(report);
    root.replaceChildren(header);
    await build(report, root);
    fill();
    // What is seen first is painted before anything else is made.
    await painted();
    // Whoever waits for the page, such as a test, sees that it stands, and when all of it does.
    const { dataset } = document.documentElement;
    dataset["took"] = String(Math.round(performance.now()));
    dataset["ready"] = "true";
    if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    await takeTurns();
    dataset["complete"] = String(Math.round(performance.now()));
  } catch (error) {
    root.replaceChildren(el("p", { class: "broken" }, `This report cannot be shown: ${String(error)}`));
    throw error;
  }
}
