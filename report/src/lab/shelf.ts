// The results of the folder that the server shows: searched, opened as reports, and compared with runs in the page.
import { inflate } from "../data";
import { button, el } from "../dom";
import type { TimeLink } from "../link";
import { Run } from "../run";
import type { Report } from "../types";
import type { Server } from "./remote";

interface Entry {
  name: string;
  kind: string;
  title: string;
  seconds: number | null;
  outcome?: string;
  fingerprint?: string;
  seed?: number;
  set?: string[] | null;
}

/** Entries that are listed at a time; a search finds the others. */
const MOST = 50;

export class Shelf {
  readonly root = el("details", { class: "shelf" });
  private readonly list = el("ul", {});
  private readonly search = el("input", { type: "search", aria: { label: "search results" } });
  private readonly status = el("p", { class: "note", aria: { live: "polite" } });
  private entries: Entry[] = [];
  private chosen: string | null = null;

  constructor(
    private readonly server: Server,
    /** Compares with a recorded run, or with none. */
    private readonly compare: (run: ((link: TimeLink) => Run) | null) => void,
  ) {
    this.search.placeholder = "name, scenario, outcome, fingerprint";
    this.search.addEventListener("input", () => this.show());
    const tools = el("div", { class: "lab-tools" }, this.search, button("Refresh", () => void this.load()));
    this.root.append(el("summary", {}, "Recorded results"), tools, this.status, this.list);
    this.root.addEventListener("toggle", () => this.root.open && void this.load());
  }

  private async load(): Promise<void> {
    try {
      const told = (await (await this.server.fetch("/results")).json()) as { folder: string; results: Entry[] };
      this.entries = told.results;
      this.status.textContent = this.entries.length === 0 ? `There are no results in ${told.folder}; tailback run writes them.` : "";
    } catch (error) {
      this.status.textContent = String(error);
    }
    this.show();
  }

  private show(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const text = (entry: Entry) => Object.values(entry).flat().join(" ").toLowerCase();
    const found = this.entries.filter((entry) => words.every((word) => text(entry).includes(word)));
    this.list.replaceChildren(...found.slice(0, MOST).map((entry) => this.row(entry)));
    if (found.length > MOST) this.list.append(el("li", { class: "note" }, `and ${found.length - MOST} more; search for them`));
  }

  private row(entry: Entry): HTMLElement {
    const link = el("a", {}, entry.name);
    link.href = this.server.address(`/results/${encodeURIComponent(entry.name)}`);
    link.target = "_blank";
    link.rel = "noopener";
    const when = entry.seconds === null ? "" : new Date(entry.seconds * 1000).toLocaleString();
    const about = [entry.kind, entry.title === entry.name ? "" : entry.title, entry.outcome, ...(entry.set ?? []), when].filter((part) => part);
    const chosen = this.chosen === entry.name;
    const press = button(chosen ? "Stop comparing" : "Compare", () => void this.choose(chosen ? null : entry.name), { aria: { pressed: String(chosen) } });
    return el("li", {}, link, el("span", { class: "note" }, ` ${about.join(", ")} `), entry.kind === "run" ? press : null);
  }

  private async choose(name: string | null): Promise<void> {
    this.chosen = name;
    if (name === null) this.compare(null);
    else {
      try {
        const { document, blocks } = (await (await this.server.fetch(`/runs/${encodeURIComponent(name)}`)).json()) as { document: Report; blocks: string[] };
        const read = async (number: number) => inflate(blocks[number]);
        this.compare((link) => Run.from({ ...document.runs[0], label: name }, read, link));
        this.status.textContent = "";
      } catch (error) {
        this.chosen = null;
        this.status.textContent = String(error);
      }
    }
    this.show();
  }
}
