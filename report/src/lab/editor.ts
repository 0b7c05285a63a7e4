// The text of a scenario: line numbers, mistakes underlined where they are, and completion from the table of keys.
import { button, el, fresh } from "../dom";
import { contextAt, proposals, type Context, type Proposal } from "./context";
import type { Complaint, Section } from "./messages";

/** Proposals shown at once. */
const SHOWN = 9;

export class Editor {
  readonly root: HTMLElement;
  readonly area: HTMLTextAreaElement;
  private readonly numbers: HTMLElement;
  private readonly marks: HTMLElement;
  private readonly list: HTMLElement;
  private readonly mistakes: HTMLElement;
  private readonly about: HTMLElement;
  private keys: Section | null = null;
  private offered: Proposal[] = [];
  private chosen = 0;
  private context: Context | null = null;
  private complaints: Complaint[] = [];
  /** Called after every change by the reader. */
  onChange: () => void = () => {};

  constructor() {
    const id = fresh("proposals");
    this.area = el("textarea", { class: "code", aria: { label: "scenario", autocomplete: "list", controls: id } });
    this.area.spellcheck = false;
    this.area.autocapitalize = "off";
    this.area.wrap = "off";
    this.numbers = el("pre", { class: "numbers", aria: { hidden: "true" } });
    this.marks = el("pre", { class: "marks", aria: { hidden: "true" } });
    this.list = el("ul", { class: "proposals", role: "listbox", id, aria: { label: "completions" } });
    this.list.hidden = true;
    this.about = el("p", { class: "note", aria: { live: "polite" } }, "Ctrl+Space completes keys and values.");
    this.mistakes = el("ul", { class: "mistakes", role: "alert" });
    this.root = el("div", { class: "editor" }, el("div", { class: "sheet" }, this.numbers, el("div", { class: "paper" }, this.marks, this.area, this.list)), this.about, this.mistakes);
    this.listen();
  }

  get text(): string {
    return this.area.value;
  }

  set text(text: string) {
    this.area.value = text;
    this.complaints = [];
    this.close();
    this.paint();
  }

  offer(keys: Section): void {
    this.keys = keys;
  }

  /** Shows mistakes; those of other texts are listed without a place. */
  show(complaints: Complaint[], file: string): void {
    this.complaints = complaints.filter((one) => one.file === file);
    this.mistakes.replaceChildren(
      ...complaints.slice(0, 20).map((one) => {
        const own = one.file === file;
        const where = own ? `line ${one.line}` : one.file;
        const words = [el("b", {}, `${where}: `), one.message, one.help === "" ? "" : el("span", { class: "help" }, ` ${one.help}`)];
        const line = el("li", {}, ...words);
        if (own) line.append(" ", button("go there", () => this.select(one)));
        return line;
      }),
    );
    this.paint();
  }

  private select({ line, column, width }: Complaint): void {
    const from = this.offset(line, column);
    this.area.focus();
    this.area.setSelectionRange(from, from + Math.max(1, width));
    const height = this.area.scrollHeight / Math.max(1, this.text.split("\n").length);
    this.area.scrollTop = Math.max(0, (line - 4) * height);
  }

  /** Lines and columns count characters, not the units of a text here. */
  private offset(line: number, column: number): number {
    const lines = this.text.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
  }

  private paint(): void {
    const { text } = this;
    const lines = text.split("\n");
    const wrong = new Set(this.complaints.map(({ line }) => line));
    this.numbers.replaceChildren(...lines.flatMap((_, i) => [el("span", { class: wrong.has(i + 1) ? "wrong" : "" }, String(i + 1)), "\n"].map((part) => (typeof part === "string" ? document.createTextNode(part) : part))));
    // The marks lie below the text: the same letters, unseen but for what is under them.
    const spans = this.complaints.map((one) => [this.offset(one.line, one.column), one] as const).sort((a, b) => a[0] - b[0]);
    const parts: (Node | string)[] = [];
    let place = 0;
    for (const [from, { width, message }] of spans) {
      if (from < place) continue;
      parts.push(text.slice(place, from));
      place = Math.min(text.length, from + Math.max(1, width));
      parts.push(el("mark", { title: message }, text.slice(from, place) || " "));
    }
    parts.push(text.slice(place), "\n");
    this.marks.replaceChildren(...parts);
    this.follow();
  }

  private follow(): void {
    this.numbers.scrollTop = this.area.scrollTop;
    this.marks.scrollTop = this.area.scrollTop;
    this.marks.scrollLeft = this.area.scrollLeft;
  }

  private listen(): void {
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("input", () => {
      this.complaints = [];
      this.paint();
      this.complete(false);
      this.onChange();
    });
    this.area.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.area.addEventListener("click", () => this.close());
    this.area.addEventListener("keydown", (event) => {
      if (event.key === " " && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        return this.complete(true);
      }
      if (this.list.hidden) return;
      const act: Record<string, () => void> = {
        ArrowDown: () => this.move(1),
        ArrowUp: () => this.move(-1),
        Enter: () => this.take(this.chosen),
        Tab: () => this.take(this.chosen),
        Escape: () => this.close(),
      };
      const found = act[event.key];
      if (!found) return;
      event.preventDefault();
      event.stopPropagation();
      found();
    });
  }

  /** Offers what could stand at the cursor; unasked only once a word was begun. */
  private complete(asked: boolean): void {
    if (!this.keys) return;
    const cursor = this.area.selectionStart;
    this.context = contextAt(this.text, cursor);
    const few = this.context.word.length === 0 && !this.context.quoted;
    this.offered = !asked && few ? [] : proposals(this.keys, this.context).slice(0, SHOWN);
    if (this.offered.length === 0) return this.close();
    this.chosen = 0;
    this.list.replaceChildren(
      ...this.offered.map(({ label }, i) => {
        const item = el("li", { role: "option", id: `${this.list.id}-${i}` }, label);
        item.addEventListener("mousedown", (event) => {
          event.preventDefault();
          this.take(i);
        });
        return item;
      }),
    );
    this.list.hidden = false;
    this.place(this.context.from);
    this.move(0);
  }

  /** Below the word, as far as there is room. */
  private place(from: number): void {
    const before = this.text.slice(0, from);
    const line = before.split("\n").length;
    const column = before.length - before.lastIndexOf("\n") - 1;
    const style = getComputedStyle(this.area);
    const height = parseFloat(style.lineHeight);
    const canvas = document.createElement("canvas").getContext("2d");
    if (canvas) canvas.font = style.font;
    const letter = canvas?.measureText("0").width ?? 8;
    const left = parseFloat(style.paddingLeft) + column * letter - this.area.scrollLeft;
    const top = parseFloat(style.paddingTop) + line * height - this.area.scrollTop;
    this.list.style.left = `${Math.max(0, Math.min(left, this.area.clientWidth - 180))}px`;
    this.list.style.top = `${top}px`;
  }

  private move(by: number): void {
    const count = this.offered.length;
    this.chosen = (this.chosen + by + count) % count;
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === this.chosen)));
    this.area.setAttribute("aria-activedescendant", `${this.list.id}-${this.chosen}`);
    const { label, about } = this.offered[this.chosen];
    this.about.replaceChildren(el("code", {}, label), ` ${about}`);
  }

  private take(number: number): void {
    const { context } = this;
    const proposal = this.offered[number];
    if (!context || !proposal) return;
    this.close();
    this.area.focus();
    this.area.setRangeText(proposal.insert, context.from, context.from + context.word.length, "end");
    this.paint();
    this.onChange();
  }

  private close(): void {
    this.list.hidden = true;
    this.offered = [];
    this.area.removeAttribute("aria-activedescendant");
  }
}
