// The values of a scenario as fields and sliders, made from its own keys.
import { button, el, fresh } from "../dom";
import type { Complaint, Field } from "./messages";
import { amountOf, scaleOf, written } from "./quantity";

/** Keys that say nothing about the network or its traffic. */
const ASIDE = /^(schema_version|base|name|description|expectations|sweep|variants|choices|trends|charts|fluid)\b/;
const MOVABLE = new Set(["time", "rate", "size", "count", "number", "percent", "flag", "choice"]);

/** Fields shown before one searches for more; few on a phone, where the network stands below them. */
const SHOWN = () => (window.innerWidth > 900 ? 14 : 5);

/** A path as people read it. */
function named(path: string, names: Map<string, string>): string {
  return path
    .split(".")
    .map((part) => {
      const match = /^(\w+)\[(\d+)\]$/.exec(part);
      if (!match) return part.replaceAll("_", " ");
      const own = names.get(`${path.slice(0, path.indexOf(part))}${part}`);
      return own ?? `${match[1].replaceAll("_", " ")} ${match[2] === "0" ? "" : Number(match[2]) + 1}`.trim();
    })
    .join(" \u203a ");
}

interface Shown {
  field: Field;
  input: HTMLInputElement | HTMLSelectElement;
  slider: HTMLInputElement | null;
  problem: HTMLElement;
  reset: HTMLButtonElement;
}

export class Fields {
  readonly root: HTMLElement;
  private readonly list = el("div", { class: "fields" });
  private readonly search: HTMLInputElement;
  private readonly more: HTMLElement;
  private all: Field[] = [];
  private readonly shown = new Map<string, Shown>();
  /** What the text says, where something is set over it. */
  private readonly written = new Map<string, string>();
  private readonly set = new Map<string, string>();
  /** Called at every change; `moving` while a slider is held. */
  onChange: (moving: boolean) => void = () => {};
  /** Keys that a lesson is about come first. */
  first: string[] = [];

  constructor() {
    this.search = el("input", { type: "search", aria: { label: "search all keys" } });
    this.search.placeholder = "search all keys, such as latency";
    this.search.addEventListener("input", () => this.build());
    this.more = el("p", { class: "note" });
    this.root = el("div", { class: "values" }, this.search, this.list, this.more);
  }

  /** What is set over the text, as in `--set`. */
  get overrides(): string[] {
    return [...this.set].map(([path, value]) => `${path}=${value}`);
  }

  set overrides(list: string[]) {
    this.set.clear();
    this.written.clear();
    for (const one of list) {
      const at = one.indexOf("=");
      if (at > 0) this.set.set(one.slice(0, at), one.slice(at + 1));
    }
  }

  /** What a value can be chosen from: a class is one of those that the scenario names. */
  private choicesOf(field: Field): [string, string][] | null {
    if (field.kind === "choice") return field.choices ?? null;
    if (!/^workloads\[\d+\]\.class$/.test(field.path)) return null;
    const names = this.all.filter(({ path }) => /^classes\[\d+\]\.name$/.test(path)).map(({ value }) => value.replace(/^"|"$/g, ""));
    return names.length > 1 ? names.map((name) => [name, ""]) : null;
  }

  /** Takes the values of a sound scenario. Fields that are there already stay, so that a slider is not lost while it moves. */
  take(all: Field[]): void {
    this.all = all.filter(({ path }) => !ASIDE.test(path));
    for (const { path, value, from } of this.all) if (from !== "set") this.written.set(path, value);
    const wanted = this.wanted();
    const same = wanted.length === this.shown.size && wanted.every(({ path, kind }) => this.shown.get(path)?.field.kind === kind);
    if (!same) return this.build();
    for (const field of wanted) this.update(this.shown.get(field.path)!, field);
  }

  /** Shows which value a mistake is about. */
  blame(complaints: Complaint[]): void {
    for (const [path, { problem }] of this.shown) {
      const own = complaints.find((one) => one.file === `--set ${path}=${this.set.get(path)}`);
      problem.textContent = own ? `${own.message}${own.help === "" ? "" : `; ${own.help}`}` : "";
    }
  }

  private wanted(): Field[] {
    const word = this.search.value.trim().toLowerCase();
    const fit = this.all.filter((field) => MOVABLE.has(field.kind) || this.first.includes(field.path) || this.choicesOf(field));
    if (word !== "") return fit.filter(({ path, meaning }) => path.includes(word) || (meaning ?? "").toLowerCase().includes(word)).slice(0, 40);
    const rank = ({ path, from }: Field) => {
      const place = this.first.indexOf(path);
      return place >= 0 ? place - 1000 : from === "default" ? 1000 : /^(switches|congestion_point|protocol|recovery)\b/.test(path) ? 0 : /^workloads\b/.test(path) ? 1 : /^network\b/.test(path) ? 2 : 3;
    };
    const own = fit.filter((field) => field.from !== "default" || this.first.includes(field.path));
    return own.map((field, i) => ({ field, i })).sort((a, b) => rank(a.field) - rank(b.field) || a.i - b.i).slice(0, SHOWN()).map(({ field }) => field);
  }

  private build(): void {
    const wanted = this.wanted();
    const names = new Map<string, string>();
    for (const { path, value } of this.all) if (path.endsWith(".name")) names.set(path.slice(0, -5), value.replace(/^"|"$/g, ""));
    this.shown.clear();
    this.list.replaceChildren(...wanted.map((field) => this.control(field, named(field.path, names))));
    const rest = this.all.filter(({ kind }) => MOVABLE.has(kind)).length - wanted.length;
    this.more.textContent = rest > 0 ? `${rest} more values; search to find them.` : "";
  }

  private control(field: Field, name: string): HTMLElement {
    const id = fresh("field");
    const problem = el("p", { class: "problem", role: "alert" });
    const reset = button("\u21ba", () => this.change(field.path, null, false), { title: "back to the scenario's value", aria: { label: `reset ${name}` } });
    const input = this.input(field, id);
    const scale = this.scale(field);
    const slider = scale ? el("input", { type: "range", aria: { label: name } }) : null;
    const shown: Shown = { field, input, slider, problem, reset };
    this.shown.set(field.path, shown);
    input.addEventListener("change", () => {
      const value = input instanceof HTMLInputElement && input.type === "checkbox" ? String(input.checked) : input.value.trim();
      this.change(field.path, value, false);
    });
    if (slider && scale) {
      slider.min = "0";
      slider.max = String(scale.steps);
      const moved = (moving: boolean) => {
        const amount = amountOf(field.kind, this.written.get(field.path) ?? field.value)!;
        const value = written(amount, scale.base(Number(slider.value)));
        input.value = value;
        slider.setAttribute("aria-valuetext", value);
        this.change(field.path, value, moving);
      };
      slider.addEventListener("input", () => moved(true));
      slider.addEventListener("change", () => moved(false));
    }
    this.update(shown, field);
    const label = el("label", { for: id, title: field.meaning ?? "" }, name);
    const root = el("div", { class: "field", data: { path: field.path } }, label, el("span", { class: "value" }, input, reset), slider, problem);
    return root;
  }

  private input(field: Field, id: string): HTMLInputElement | HTMLSelectElement {
    const choices = this.choicesOf(field);
    if (choices) {
      const select = el("select", { id });
      for (const [value, about] of choices) {
        const option = el("option", { title: about }, value);
        option.value = value;
        select.append(option);
      }
      return select;
    }
    const input = el("input", { id, type: field.kind === "flag" ? "checkbox" : "text", title: `${field.meaning ?? ""} ${field.allows}` });
    if (field.kind !== "flag") input.size = 9;
    return input;
  }

  private scale(field: Field): ReturnType<typeof scaleOf> {
    const amount = amountOf(field.kind, this.written.get(field.path) ?? field.value);
    return amount ? scaleOf(amount, field.bounds) : null;
  }

  private update(shown: Shown, field: Field): void {
    shown.field = field;
    const { input, slider, reset, problem } = shown;
    const value = (this.set.get(field.path) ?? field.value).replace(/^"|"$/g, "");
    problem.textContent = "";
    if (input instanceof HTMLInputElement && input.type === "checkbox") input.checked = value === "true";
    else if (document.activeElement !== input) input.value = value;
    const amount = amountOf(field.kind, value);
    const scale = this.scale(field);
    if (slider && amount && scale && document.activeElement !== slider) slider.value = String(scale.at(amount.base));
    if (slider) slider.setAttribute("aria-valuetext", value);
    reset.hidden = !this.set.has(field.path);
  }

  private change(path: string, value: string | null, moving: boolean): void {
    const plain = (text: string | undefined) => text?.replace(/^"|"$/g, "");
    if (value === null || plain(this.written.get(path)) === value) this.set.delete(path);
    else this.set.set(path, value);
    const shown = this.shown.get(path);
    if (shown) {
      shown.reset.hidden = !this.set.has(path);
      if (value === null) {
        (document.activeElement as HTMLElement | null)?.blur();
        this.update(shown, { ...shown.field, value: this.written.get(path) ?? shown.field.value });
      }
    }
    this.onChange(moving);
  }
}
