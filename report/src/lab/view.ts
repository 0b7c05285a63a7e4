// What a run in the page looks like: its outcome, the network, queues, rates and pauses; beside another run, if there is one.
import { Controls } from "../controls";
import { el } from "../dom";
import { show, showTime } from "../format";
import { TimeLink } from "../link";
import { paintAll } from "../plot";
import { Run } from "../run";
import { chartMakers } from "../runcharts";
import { flowTable, linkTable, queueTable } from "../runtables";
import { outcome, story, summary } from "../runpage";
import { stage } from "../stage";
import { inSlices } from "../turns";
import type { RunRecord } from "../types";
import { whenSeen } from "../dom";
import type { Made } from "./messages";

/** The tables that the network and the first charts are drawn from. */
const FIRST = ["links", "starved", "queues", "pauses", "flow_samples", "fair_shares", "notices", "rates"];
/** Instants at which trees are looked for in a run that is under way: it is looked at again soon. */
const UNDER_WAY = 100;
/** The most flows whose fate is told. */
const FOLLOWED = 2;

export class View {
  readonly root = el("div", { class: "results" });
  private readonly head = el("div", { class: "head" });
  private readonly pictures = el("div", { class: "pictures" });
  private readonly controls = new Controls();
  private readonly body = el("div", { class: "body" });
  private link: TimeLink | null = null;
  private shown = 0;
  private busy = false;
  /** The instant that is to be shown; none until one was chosen, by the reader or as the worst of a run. */
  private wish: number | null = null;
  /** The instant that was set last, not by the reader. */
  private set = 0;
  /** Flows that were victims in a run of this scenario: what becomes of them is told also where they are none. */
  private victims = new Set<string>();
  /** The run shown last. */
  run: Run | null = null;

  constructor() {
    this.controls.root.hidden = true;
    this.root.append(this.head, this.pictures, this.controls.root, this.body);
  }

  /** What is shown next is another scenario: its instants have nothing to do with those of the last one. */
  another(): void {
    this.link = null;
    this.wish = null;
    this.victims = new Set();
  }

  /** Shows a run, which may still be under way, at the instant that was looked at before if there was one. */
  async show(made: Made, beside: (link: TimeLink) => Run | null, underWay: boolean): Promise<Run | null> {
    // A look at a run that comes while another is being drawn is left out: the next one knows more.
    if (underWay && this.busy) return null;
    const number = ++this.shown;
    this.busy = true;
    try {
      return await this.build(made, beside, underWay, () => number === this.shown);
    } finally {
      if (number === this.shown) this.busy = false;
    }
  }

  /** Makes everything beside what is seen, in slices, and puts it in its place at once. */
  private async build(made: Made, beside: (link: TimeLink) => Run | null, underWay: boolean, wanted: () => boolean): Promise<Run> {
    const breathe = inSlices();
    const record = JSON.parse(made.text) as RunRecord;
    const other = beside(new TimeLink(1));
    const link = new TimeLink(Math.max(1, record.manifest.simulated_ps, other?.end ?? 0));
    const runs = [...(other ? [beside(link)!] : []), Run.live(other ? "now" : record.manifest.name, record, made.bytes, link)];
    const run = runs.at(-1)!;
    for (const one of runs) await one.load(one === run ? undefined : FIRST, breathe);
    // Another was shown while this one was unpacked.
    if (!wanted()) return run;
    const stay = underWay || this.chosen !== null;
    const drawn = stage(runs, link, { stay, apart: true, wanted, ...(underWay ? { instants: UNDER_WAY } : {}) });
    const followed = run.flows.filter(({ name }) => this.victims.has(name)).map(({ number }) => number);
    if (!other) drawn.drawings.at(-1)!.follow(followed);
    const words = el("div", { class: "words" });
    const charts: HTMLElement[] = [];
    for (const make of chartMakers(runs, link)) {
      charts.push(...[make()?.root ?? []].flat());
      await breathe();
      if (!wanted()) return run;
    }
    const tables = el("details", { class: "all" }, el("summary", {}, "Tables and plan"));
    const rest = el("div");
    tables.append(rest);
    whenSeen(rest, () => rest.append(summary(run), flowTable(run, null), linkTable(run), queueTable(run)));
    void drawn.courses.then((courses) => {
      const course = courses.at(-1)!;
      const suffered = run.flows.filter(({ number }) => course.suffered[number] > 0);
      suffered.sort((a, b) => course.suffered[b.number] - course.suffered[a.number]);
      suffered.slice(0, FOLLOWED).forEach(({ name }) => this.victims.size < FOLLOWED && this.victims.add(name));
      const told = story(run, course);
      words.replaceChildren(told ?? el("p", { class: "note" }, "No link was blocked."));
      // Where nothing was chosen, the worst moment was: it is stayed at from now on.
      if (!stay && this.link === link) this.wish = this.set = link.now;
    });
    this.place(link, underWay);
    drawn.bind(this.controls);
    this.controls.root.hidden = false;
    this.head.replaceChildren(this.outcome(run, underWay));
    // The page must not jump while one thing takes the place of another.
    const whole = this.root.closest<HTMLElement>(".lab") ?? this.root;
    whole.style.minHeight = `${whole.offsetHeight}px`;
    this.pictures.classList.toggle("alone", runs.length === 1);
    this.pictures.replaceChildren(drawn.pictures);
    this.body.replaceChildren(drawn.below, words, ...charts, tables);
    paintAll(this.root);
    whole.style.minHeight = "";
    this.root.dataset["fingerprint"] = record.manifest.fingerprint;
    this.run = run;
    return run;
  }

  /** The instant that is to be shown, which the reader may have changed since. */
  private get chosen(): number | null {
    if (this.link && this.link.now !== this.set) this.wish = this.link.now;
    return this.wish;
  }

  /** Puts a new stretch of time where the last one was. A run that is under way is shown as it is now, unless an instant was chosen. */
  private place(link: TimeLink, underWay: boolean): void {
    const { chosen, link: before } = this;
    if (before && !before.whole) link.view(before.from, before.to);
    if (chosen !== null) link.now = Math.min(link.end, chosen);
    else if (underWay) link.now = link.end;
    this.set = link.now;
    this.link = link;
  }

  private outcome(run: Run, underWay: boolean): HTMLElement {
    const { manifest } = run.about;
    const { kind, text } = underWay ? { kind: "running", text: "" } : manifest.outcome;
    const parts = [
      underWay ? el("span", { class: "verdict warning" }, kind) : outcome(run),
      el("span", {}, showTime(manifest.simulated_ps)),
      el("span", {}, `${show(manifest.hops, "count")} hops in ${show(manifest.wall_seconds, "time", 3)}`),
      el("span", { title: "a hash over every arrival: the command computes the same" }, "fingerprint ", el("code", { class: "fingerprint" }, manifest.fingerprint)),
    ];
    const more = kind === "finished" || text === "" ? null : el("pre", { class: "outcome" }, text);
    return el("div", { class: "outcome-line", aria: { live: "polite" } }, el("p", {}, ...parts), more);
  }
}
