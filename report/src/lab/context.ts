// Where in a scenario the cursor is: in which table, at a key or at a value, and what could stand there.
import type { Key, Section } from "./messages";

interface Table {
  path: string[];
  /** Keys with their values as they are written. */
  values: Map<string, string>;
}

export interface Context {
  /** Keys down to the table. */
  path: string[];
  at: "header" | "key" | "value" | "nothing";
  /** The key whose value it is. */
  key: string;
  /** What has been written of it, and from where. */
  word: string;
  from: number;
  /** Whether the value is in quotes already. */
  quoted: boolean;
  values: Map<string, string>;
}

interface Open {
  bracket: "{" | "[";
  table: Table;
  key: string;
}

/** Reads the text up to the cursor. It need not be sound TOML: nobody writes all of it at once. */
export function contextAt(text: string, cursor: number): Context {
  let table: Table = { path: [], values: new Map() };
  let key = "";
  const open: Open[] = [];
  let at = 0;
  let start = 0;
  let value = false;
  const context = (what: Context["at"], from: number, quoted = false): Context => ({ path: table.path, at: what, key, word: text.slice(from, cursor), from, quoted, values: table.values });
  const ended = () => {
    if (value && key !== "") table.values.set(key, text.slice(start, at).trim().replace(/^"|"$/g, ""));
    value = false;
    key = "";
  };
  while (at < cursor) {
    const letter = text[at];
    if (letter === "#") {
      const line = text.indexOf("\n", at);
      if (line < 0 || line >= cursor) return context("nothing", cursor);
      at = line;
    } else if (letter === '"' || letter === "'") {
      const long = text.startsWith(letter.repeat(3), at) ? letter.repeat(3) : letter;
      let end = text.indexOf(long, at + long.length);
      while (end > 0 && letter === '"' && text[end - 1] === "\\") end = text.indexOf(long, end + 1);
      // One that is not closed on its line is being written.
      const line = text.indexOf("\n", at);
      if (end < 0 || (long.length === 1 && line >= 0 && end > line)) end = line < 0 ? text.length : line;
      if (end >= cursor) return context(value ? "value" : "nothing", at + long.length, true);
      at = end + long.length;
    } else if (letter === "[" && !value && open.length === 0 && /(^|\n)[ \t]*$/.test(text.slice(0, at))) {
      const line = text.indexOf("\n", at);
      const end = line < 0 ? text.length : line;
      const header = /^\[\[?/.exec(text.slice(at))![0];
      if (cursor <= end && !text.slice(at, cursor).includes("]")) return context("header", at + header.length);
      const path = text.slice(at, end).replace(/#.*/, "").replace(/[[\]\s"']/g, "").split(".").filter((part) => part !== "");
      table = { path, values: new Map() };
      at = end;
    } else if (letter === "=" && !value) {
      key = text.slice(start, at).trim().replace(/^[{,\s]+/, "").replace(/^"|"$/g, "");
      value = true;
      at += 1;
      start = at;
    } else if ((letter === "{" || letter === "[") && value) {
      open.push({ bracket: letter, table, key });
      if (letter === "{") table = { path: [...table.path, ...key.split(".")], values: new Map() };
      if (letter === "{") [value, key] = [false, ""];
      at += 1;
      start = at;
    } else if (letter === "}" || letter === "]") {
      if (letter === "}") ended();
      const last = open.pop();
      if (last) [table, key, value] = [last.table, last.key, true];
      at += 1;
      if (open.length === 0 || last?.bracket === "[") start = at;
    } else if (letter === "," && open.length > 0) {
      if (open.at(-1)!.bracket === "{") ended();
      at += 1;
      start = at;
    } else if (letter === "\n" && open.length === 0) {
      ended();
      at += 1;
      start = at;
    } else at += 1;
  }
  const from = start + /^\s*/.exec(text.slice(start, cursor))![0].length;
  if (!value && /\s/.test(text.slice(from, cursor).trim())) return context("nothing", cursor);
  return context(value ? "value" : "key", from);
}

/** The table at a path. */
export function sectionAt(root: Section, path: string[]): Section | null {
  let found: Section = root;
  for (const name of path) {
    const inner = found.keys.find((key) => key.name === name && key.section)?.section;
    if (!inner) return null;
    found = inner;
  }
  return found;
}

export interface Proposal {
  /** What is put in place of the word. */
  insert: string;
  label: string;
  about: string;
}

function applies(key: Key, values: Map<string, string>): boolean {
  return key.only.every(({ key: other, values: wanted }) => {
    const known = values.get(other);
    return known === undefined || wanted.includes(known);
  });
}

/** What could stand at the cursor, the best first. */
export function proposals(root: Section, context: Context): Proposal[] {
  const { at, path, key, word, values, quoted } = context;
  const begins = (name: string) => name.toLowerCase().startsWith(word.toLowerCase());
  const contains = (name: string) => !begins(name) && word.length > 1 && name.toLowerCase().includes(word.toLowerCase());
  const chosen = (all: Proposal[]) => [...all.filter(({ label }) => begins(label)), ...all.filter(({ label }) => contains(label))].filter(({ insert }) => insert !== word);
  if (at === "header") {
    const tables = root.keys.filter((one) => one.section);
    return chosen(tables.map((one) => ({ insert: `${one.name}${one.list ? "]]" : "]"}`, label: one.name, about: one.meaning })));
  }
  const section = sectionAt(root, path);
  if (!section) return [];
  if (at === "key") {
    const seen = new Set<string>();
    const fit = section.keys.filter((one) => applies(one, values) && !values.has(one.name) && !seen.has(one.name) && seen.add(one.name));
    return chosen(fit.map((one) => ({ insert: `${one.name} = `, label: one.name, about: `${one.meaning} (${one.allows})` })));
  }
  if (at !== "value") return [];
  const parts = key.split(".");
  const inside = sectionAt(section, parts.slice(0, -1));
  const readings = inside?.keys.filter((one) => one.name === parts.at(-1)) ?? [];
  const meant = readings.find((one) => applies(one, values)) ?? readings[0];
  if (!meant) return [];
  const text = (name: string) => (quoted ? name : `"${name}"`);
  const choices = (meant.choices ?? []).map(([name, about]) => ({ insert: text(name), label: name, about }));
  if (meant.kind === "flag") return chosen(["true", "false"].map((name) => ({ insert: name, label: name, about: meant.meaning })));
  const usual = meant.default.value;
  if (choices.length === 0 && usual !== undefined && word === "") {
    const plain = meant.kind === "count" || meant.kind === "number";
    return [{ insert: plain ? usual : text(usual), label: usual, about: `the default: ${meant.default.why ?? ""}` }];
  }
  return chosen(choices);
}
