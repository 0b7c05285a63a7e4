// The bench: a scenario, its values as sliders, its text, and what comes out when it is run.
import { button, download, el } from "../dom";
import { show, showTime } from "../format";
import type { TimeLink } from "../link";
import { Run } from "../run";
import type { Given, LabAbout, Lesson, RunRecord } from "../types";
import { Editor } from "./editor";
import { Fields } from "./fields";
import type { Checked, Complaint, Made, Progress, Simulator } from "./messages";
import { LessonBox } from "./lesson";
import { commandOf, fragmentOf } from "./share";
import { View } from "./view";

/** Seconds that a run may take while values are dragged. */
const WHILE_MOVING = 3;
/** Seconds from which on a run belongs on the command line. */
const LONG = 60;

export class Panel {
  readonly root: HTMLElement;
  readonly fields = new Fields();
  readonly editor = new Editor();
  readonly view = new View();
  private readonly lesson = new LessonBox();
  private readonly bench: HTMLElement;
  private readonly bar = el("progress", { aria: { label: "progress of the run" } });
  private readonly status = el("p", { class: "note run-status", aria: { live: "polite" } });
  private readonly note = el("p", { class: "large" });
  private readonly command = el("code", { class: "command" });
  private readonly findings = el("ul", { class: "findings" });
  private readonly description = el("p", { class: "description note" });
  private readonly start: HTMLButtonElement;
  private readonly stop: HTMLButtonElement;
  private readonly keep: HTMLButtonElement;
  private readonly examples: HTMLElement;
  /** What can be chosen, in the order of the list. */
  private offered: { name: string; text: string; title: string; group: string; lesson: Lesson | null }[] = [];
  private readonly select = el("select", { aria: { label: "example" } });
  private readonly auto: HTMLInputElement;
  private name = "scenario.toml";
  /** The run that others are compared with. */
  private pinned: { made: Made } | null = null;
  private last: Made | null = null;
  private running = false;
  private again: "run" | "moving" | null = null;
  private moving = false;
  /** Whether the text and the values are sound, as far as was seen. */
  private sound = false;
  private checking: Promise<void> = Promise.resolve();

  constructor(
    private readonly engine: Simulator,
    private readonly about: LabAbout,
    /** The recorded run that this page reports, or another one that runs are compared with. */
    private recorded: ((link: TimeLink) => Run) | null = null,
  ) {
    this.start = button("\u25b6 Run", () => void this.run(false), { class: "run", title: "Ctrl+Enter" });
    this.stop = button("\u25a0 Stop", () => this.engine.stop(true), { class: "stop" });
    this.stop.hidden = true;
    this.keep = button("Compare with this run", () => this.pin(), { aria: { pressed: "false" }, title: "keeps this run beside those that follow" });
    this.keep.disabled = true;
    this.auto = el("input", { type: "checkbox" });
    this.auto.checked = true;
    this.bar.hidden = true;
    this.examples = this.chooser();
    const tools = el("div", { class: "lab-tools" }, this.start, this.stop, el("label", {}, this.auto, " run while values change"), this.recorded ? null : this.keep);
    const text = el("details", { class: "text" }, el("summary", {}, "Scenario text"), this.editor.root, this.share());
    text.open = window.innerWidth > 900;
    const bench = el("div", { class: "bench" }, this.examples, this.description, tools, this.bar, this.status, this.note, this.findings, this.fields.root, text, el("p", { class: "note command-line" }, "The same on the command line: ", this.command));
    this.bench = el("div", { class: "lab" }, bench, this.view.root);
    this.root = el("div", {}, this.lesson.root, this.bench);
    this.lesson.onSolve = (set) => {
      this.fields.overrides = [set];
      void this.run(false);
    };
    this.fields.onChange = (moving) => this.changed(moving);
    this.editor.onChange = () => this.edited();
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        void this.run(false);
      }
    });
    void engine.keys().then((keys) => this.editor.offer(keys), () => {});
  }

  get given(): Given {
    return { name: this.name, text: this.editor.text, set: this.fields.overrides };
  }

  /** Puts a scenario on the bench and runs it. */
  async load(given: Given, lesson: Lesson | null = null): Promise<void> {
    this.lesson.show(lesson);
    const first = lesson?.change ?? [];
    this.name = given.name;
    this.editor.text = given.text;
    this.fields.overrides = given.set;
    this.fields.first = first;
    this.pinned = null;
    this.keep.setAttribute("aria-pressed", "false");
    this.view.another();
    this.choose(given, lesson);
    await this.run(false);
  }

  private chooser(): HTMLElement {
    const { examples, lessons = [] } = this.about;
    const numbered = lessons.map((lesson, i) => ({ ...lesson, title: `${i + 1}. ${lesson.title}`, group: "Lessons", lesson }));
    this.offered = [...numbered, ...examples.map((one) => ({ ...one, lesson: null }))];
    if (this.offered.length === 0) return el("div");
    const { select } = this;
    for (const group of new Set(this.offered.map((one) => one.group))) {
      const options = el("optgroup");
      options.label = group;
      this.offered.forEach((one, i) => {
        if (one.group !== group) return;
        const option = el("option", {}, one.title);
        option.value = String(i);
        options.append(option);
      });
      select.append(options);
    }
    select.addEventListener("change", () => {
      const { name, text, lesson } = this.offered[Number(select.value)];
      void this.load({ name, text, set: [] }, lesson);
    });
    return el("label", { class: "choice example" }, "scenario ", select);
  }

  /** The list names what is on the bench; a scenario of a link or a file is none of those in it. */
  private choose(given: Given, lesson: Lesson | null): void {
    const place = this.offered.findIndex((one) => (lesson ? one.lesson === lesson : one.name === given.name && one.text === given.text && !one.lesson));
    this.select.value = String(place);
  }

  private share(): HTMLElement {
    const told = el("span", { class: "note", aria: { live: "polite" } });
    const copy = async () => {
      const address = location.href.replace(/#.*/, "") + (await fragmentOf(this.given));
      history.replaceState(null, "", address);
      try {
        await navigator.clipboard.writeText(address);
        told.textContent = " copied";
      } catch {
        told.textContent = " the link is in the address bar";
      }
    };
    const file = el("input", { type: "file", aria: { label: "open a scenario" } });
    file.accept = ".toml";
    file.hidden = true;
    file.addEventListener("change", () => {
      const [chosen] = file.files ?? [];
      if (chosen) void chosen.text().then((text) => this.load({ name: chosen.name, text, set: [] }));
      file.value = "";
    });
    const save = () => {
      const { name, text, set } = this.given;
      const head = set.length > 0 ? `# ${commandOf(this.given)}\n` : "";
      download(name.split("/").at(-1)!, head + text, "application/toml");
    };
    return el("div", { class: "share" }, button("Copy link", () => void copy(), { title: "the whole scenario is in the link; nothing is uploaded" }), button("Save", save), button("Open\u2026", () => file.click()), file, told);
  }

  private edited(): void {
    this.sound = false;
    clearTimeout(this.typed);
    this.typed = setTimeout(() => (this.auto.checked ? void this.run(true) : void this.check()), 350);
  }
  private typed: ReturnType<typeof setTimeout> | undefined;

  private changed(moving: boolean): void {
    if (this.auto.checked) void this.run(moving);
    else void this.check();
  }

  /** Shows mistakes, findings and values. */
  private async check(): Promise<void> {
    const { given } = this;
    this.checking = this.checking.then(async () => {
      try {
        this.told(await this.engine.check(given), given);
      } catch (error) {
        this.refused([], String(error));
      }
    });
    await this.checking;
  }

  private told(checked: Checked, given: Given): void {
    this.command.textContent = commandOf(given);
    this.sound = checked.complaints.length === 0;
    this.editor.show(checked.complaints, given.name);
    this.fields.blame(checked.complaints);
    if (!this.sound) {
      this.findings.replaceChildren();
      this.status.textContent = `${checked.complaints.length === 1 ? "A mistake" : `${checked.complaints.length} mistakes`}: ${checked.complaints[0].message}`;
      return;
    }
    this.description.textContent = checked.description ?? "";
    this.fields.take(checked.fields ?? []);
    const severe = (checked.findings ?? []).filter(({ severity }) => severity !== "note");
    this.findings.replaceChildren(
      ...severe.slice(0, 4).map(({ severity, subject, message, remedy }) => el("li", { class: severity }, el("b", {}, `${severity}: ${subject}: `), message, remedy === "" ? "" : ` (${remedy})`)),
    );
  }

  private refused(complaints: Complaint[], reason: string): void {
    this.status.textContent = reason !== "" ? reason : (complaints[0]?.message ?? "");
  }

  /** Runs what is on the bench; what is running is stopped for it. */
  async run(moving: boolean): Promise<void> {
    this.again = moving && this.again !== "run" ? "moving" : "run";
    if (this.running) return this.engine.stop(false);
    this.running = true;
    while (this.again) {
      this.moving = this.again === "moving";
      this.again = null;
      await this.once();
    }
    this.running = false;
  }

  private async once(): Promise<void> {
    await this.check();
    if (!this.sound || this.again) return;
    const { given } = this;
    this.note.replaceChildren();
    this.stop.hidden = false;
    let said = false;
    const large = (progress: Progress) => {
      const whole = progress.now_ps > 0 ? (progress.seconds * progress.duration_ps) / progress.now_ps : Infinity;
      if (progress.seconds < 1 || said) return;
      if (this.moving && whole > WHILE_MOVING) {
        said = true;
        this.engine.stop(true);
        this.note.replaceChildren(`Stopped at ${showTime(progress.now_ps, 3)}: the whole run takes about ${show(whole, "time", 2)} here. Press Run to make it.`);
      } else if (!this.moving && whole > LONG && this.engine.inPage) {
        said = true;
        this.note.replaceChildren(`This run is large for a page: about ${show(whole, "time", 2)}. The command is faster and uses all cores: `, el("code", {}, commandOf(given)));
      }
    };
    try {
      const progress = (progress: Progress) => {
        this.bar.hidden = progress.seconds < 0.25;
        this.bar.max = progress.duration_ps;
        this.bar.value = progress.now_ps;
        if (progress.seconds >= 0.25) this.status.textContent = `${showTime(progress.now_ps, 3)} of ${showTime(progress.duration_ps, 3)}, ${show(progress.hops / progress.seconds / 1e6, "plain", 3)} million hops per second`;
        large(progress);
      };
      const ending = await this.engine.run(given, { progress, seen: (made) => void this.draw(made, true) });
      if ("made" in ending) await this.shown(ending.made);
      else if ("complaints" in ending) this.refused(ending.complaints, ending.reason);
    } catch (error) {
      this.refused([], String(error));
    } finally {
      this.stop.hidden = true;
      this.bar.hidden = true;
    }
  }

  private async shown(made: Made): Promise<void> {
    this.last = made;
    this.keep.disabled = false;
    const run = await this.draw(made);
    this.status.textContent = "";
    if (run) this.lesson.judge(run);
    this.bench.dataset["runs"] = String(Number(this.bench.dataset["runs"] ?? 0) + 1);
  }

  /** Draws a run, which may still be under way, beside the one that it is compared with. */
  private draw(made: Made, underWay = false): Promise<Run | null> {
    const { pinned, recorded } = this;
    const beside = (link: TimeLink) => {
      if (recorded) return recorded(link);
      if (!pinned) return null;
      return Run.live("before", JSON.parse(pinned.made.text) as RunRecord, pinned.made.bytes, link);
    };
    return this.view.show(made, beside, underWay);
  }

  /** Compares the runs to come, and the last one, with a recorded run, or with none. */
  compare(recorded: ((link: TimeLink) => Run) | null): void {
    this.recorded = recorded;
    this.keep.hidden = recorded !== null;
    if (this.last) void this.draw(this.last);
  }

  /** Keeps the last run to compare others with, or lets it go. */
  private pin(): void {
    this.pinned = this.pinned ? null : this.last ? { made: this.last } : null;
    this.keep.setAttribute("aria-pressed", String(this.pinned !== null));
    if (this.last) void this.draw(this.last);
  }
}
