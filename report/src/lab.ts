// The front-end of pages with a simulator in them: the lab, and reports that can be run again.
import { readNamed } from "./data";
import { el } from "./dom";
import { Engine } from "./lab/engine";
import type { Simulator } from "./lab/messages";
import { Panel } from "./lab/panel";
import { Remote, Server } from "./lab/remote";
import { givenOf } from "./lab/share";
import { Shelf } from "./lab/shelf";
import { build, start } from "./page";
import { Run } from "./run";
import { section } from "./shell";
import type { Given, LabAbout, Report } from "./types";

/** The script of the thread that simulates, put here by the bundler. */
declare const THREAD: string;

/** The simulator in the page. */
async function engine(about: LabAbout): Promise<Engine> {
  const module = await WebAssembly.compile((await readNamed("module")) as Uint8Array<ArrayBuffer>);
  return new Engine(THREAD, module, about.files);
}

/** The lab: a scenario of the address, or the first lesson. */
async function labPage(report: Report, into: HTMLElement): Promise<void> {
  const about = report.lab!;
  document.body.classList.add("wide");
  const wait = el("p", { class: "wait" }, "Starting the simulator\u2026");
  into.append(wait);
  const server = about.server ? new Server(about.server.token) : null;
  const simulator: Simulator = server ? new Remote(server, about.files) : await engine(about);
  const panel = new Panel(simulator, about);
  if (server) panel.root.prepend(new Shelf(server, (run) => panel.compare(run)).root);
  wait.replaceWith(panel.root);
  window.addEventListener("hashchange", () => void givenOf(location.hash).then((other) => other && panel.load(other)));
  const given = await givenOf(location.hash);
  const [lesson] = about.lessons ?? [];
  // Whoever opens the page for the first time is shown what there is to be seen, and what to try.
  if (given) await panel.load(given);
  else if (lesson) await panel.load({ name: lesson.name, text: lesson.text, set: [] }, lesson);
  else await panel.load(first(about));
}

function first({ examples }: LabAbout): Given {
  const [found] = examples;
  return found ? { name: found.name, text: found.text, set: [] } : { name: "scenario.toml", text: "", set: [] };
}

/** A report of a run, and below its outcome the same run to be changed. */
async function liveReport(report: Report, into: HTMLElement): Promise<void> {
  await build(report, into);
  const about = report.lab!;
  const [run] = report.runs;
  const place = section("Run it again", "live", el("p", { class: "note" }, "Change a value and compare with the recorded run. The simulator is in this page; nothing leaves it."));
  into.insertBefore(place, into.querySelector("#network"));
  const panel = new Panel(await engine(about), about, (link) => new Run({ ...run, label: "recorded" }, link));
  place.append(panel.root);
  if (about.given) await panel.load(about.given);
}

void start((report, into) => {
  if (report.kind === "lab") return labPage(report, into);
  return report.lab ? liveReport(report, into) : build(report, into);
});
