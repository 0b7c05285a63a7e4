// What a run in the page looks like: its outcome, the network, queues, rates and pauses; beside another run, if there is one.
import { el } from "../dom";
import { show, showTime } from "../format";
import { TimeLink } from "../link";
import { paintAll } from "../plot";
import { Run } from "../run";
import { chartMakers } from "../runcharts";
import { flowTable, linkTable, queueTable } from "../runtables";
import { story, summary } from "../runpage";
import { stage } from "../stage";
import type { RunRecord } from "../types";
import { whenSeen } from "../dom";
import type { Made } from "./messages";

/** The tables that the network and the first charts are drawn from. */
const FIRST = ["links", "starved", "queues", "pauses", "flow_samples", "fair_shares", "notices", "rates"];

export class View {
  readonly root = el("div", { class: "results" });
  private readonly head = el("div", { class: "head" });
  private readonly body = el("div", { class: "body" });
  private link: TimeLink | null = null;
  private shown = 0;
  /** The run shown last. */
  run: Run | null = null;

  constructor() {
    this.root.append(this.head, this.body);
  }

  /** Shows a run, which may still be under way, at the instant that was looked at before if there was one. */
  async show(made: Made, beside: (link: TimeLink) => Run | null, underWay: boolean): Promise<Run> {
    const number = ++this.shown;
    const record = JSON.parse(made.text) as RunRecord;
    const before = this.link;
    const other = beside(new TimeLink(1));
    const link = new TimeLink(Math.max(1, record.manifest.simulated_ps, other?.end ?? 0));
    const runs = [...(other ? [beside(link)!] : []), Run.live(other ? "now" : record.manifest.name, record, made.bytes, link)];
    await Promise.all(runs.map((run) => run.load(run === runs.at(-1) ? undefined : FIRST)));
    const run = runs.at(-1)!;
    // Another was shown while this one was unpacked.
    if (number !== this.shown) return run;
    const stay = before !== null && before.now > 0;
    if (stay) {
      if (!before.whole) link.view((before.from / before.end) * link.end, (before.to / before.end) * link.end);
      link.now = Math.min(link.end, (before.now / before.end) * link.end);
    }
    this.link = link;
    this.run = run;
    const drawn = stage(runs, link, stay);
    const words = el("div", { class: "words" });
    const charts = chartMakers(runs, link).flatMap((make) => [make()?.root ?? []].flat());
    const tables = el("details", { class: "all" }, el("summary", {}, "Tables and plan"));
    const rest = el("div");
    tables.append(rest);
    whenSeen(rest, () => rest.append(summary(run), flowTable(run, null), linkTable(run), queueTable(run)));
    void drawn.courses.then((courses) => {
      const told = story(run, courses.at(-1)!);
      words.replaceChildren(told ?? el("p", { class: "note" }, "No link was blocked."));
    });
    this.head.replaceChildren(this.outcome(run, underWay));
    // The page must not jump while one thing takes the place of another.
    this.body.style.minHeight = `${this.body.offsetHeight}px`;
    this.body.replaceChildren(drawn.root, words, ...charts, tables);
    paintAll(this.body);
    this.body.style.minHeight = "";
    this.root.dataset["fingerprint"] = record.manifest.fingerprint;
    return run;
  }

  private outcome(run: Run, underWay: boolean): HTMLElement {
    const { manifest } = run.about;
    const { kind, text } = underWay ? { kind: "running", text: "" } : manifest.outcome;
    const drops = manifest.totals["dropped_frames"] ?? 0;
    const look = kind === "finished" ? (drops > 0 ? "warning" : "good") : ["interrupted", "limit", "running"].includes(kind) ? "warning" : "bad";
    const parts = [
      el("span", { class: `verdict ${look}` }, [kind, ...(drops > 0 ? [`${show(drops, "count")} frames dropped`] : [])].join(", ")),
      el("span", {}, showTime(manifest.simulated_ps)),
      el("span", {}, `${show(manifest.hops, "count")} hops in ${show(manifest.wall_seconds, "time", 3)}`),
      el("span", { title: "a hash over every arrival: the command computes the same" }, "fingerprint ", el("code", { class: "fingerprint" }, manifest.fingerprint)),
    ];
    const more = kind === "finished" || text === "" ? null : el("pre", { class: "outcome" }, text);
    return el("div", { class: "outcome-line", aria: { live: "polite" } }, el("p", {}, ...parts), more);
  }
}
