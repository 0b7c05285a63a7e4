// A lesson: what there is to see, a question, what is to be reached, and an answer.
import { button, el } from "../dom";
import { markdown } from "../markdown";
import type { Run } from "../run";
import type { Lesson } from "../types";
import { expectedText, measuredText, verdictKind } from "../verdicts";

export class LessonBox {
  readonly root = el("section", { class: "lesson", aria: { label: "lesson" } });
  private readonly goals = el("ul", { class: "goals", aria: { live: "polite" } });
  private lesson: Lesson | null = null;
  /** Called to apply the solution. */
  onSolve: (set: string) => void = () => {};

  constructor() {
    this.root.hidden = true;
  }

  show(lesson: Lesson | null): void {
    this.lesson = lesson;
    this.root.hidden = lesson === null;
    if (!lesson) return;
    const answer = el("details", {}, el("summary", {}, "Answer"), markdown(lesson.answer), button("Show me", () => this.onSolve(lesson.solution)));
    this.goals.replaceChildren();
    this.root.replaceChildren(
      el("h2", {}, lesson.title),
      el("div", { class: "lesson-text" }, el("div", {}, markdown(lesson.about)), el("div", {}, el("h3", {}, "Question"), markdown(lesson.question), el("h3", {}, "To reach"), this.goals, answer)),
    );
  }

  /** Judges a run by what its scenario expects. */
  judge(run: Run): void {
    if (!this.lesson) return;
    const findings = run.about.expectations ?? [];
    const good = findings.filter(({ verdict }) => verdictKind(verdict) === "good").length;
    this.goals.replaceChildren(
      ...findings.map((finding) => {
        const kind = verdictKind(finding.verdict);
        return el("li", {}, el("span", { class: `verdict ${kind}` }, finding.name), ` ${expectedText(finding)}, now ${measuredText(finding) || "nothing"}`);
      }),
      ...(good > 0 && good === findings.length ? [el("li", { class: "reached" }, "All of it is reached.")] : []),
    );
    this.root.dataset["reached"] = String(good > 0 && good === findings.length);
  }
}
