// Notes as they are written: headings, paragraphs, lists, tables, code and emphasis. Anything else stays as it is, as text.
import { el, type Child } from "./dom";

/** Code, bold, emphasis and links within a line. A link that leads into the repository is shown as its words. */
function inline(text: string): Child[] {
  const made: Child[] = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > last) made.push(text.slice(last, match.index));
    const [whole, code, bold, emphasis, words, target] = match;
    if (code !== undefined) made.push(el("code", {}, code));
    else if (bold !== undefined) made.push(el("strong", {}, ...inline(bold)));
    else if (emphasis !== undefined) made.push(el("em", {}, ...inline(emphasis)));
    else if (words !== undefined && /^https?:/.test(target)) {
      const link = el("a", {}, words);
      link.href = target;
      link.rel = "noreferrer";
      made.push(link);
    } else made.push(words ?? whole);
    last = match.index + whole.length;
  }
  if (last < text.length) made.push(text.slice(last));
  return made;
}

const cells = (line: string) => {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  // A bar inside code or behind a backslash is not the end of a cell.
  return (inner.match(/(?:`[^`]*`|\\\||[^|`])+|(?<=\|)(?=\|)/g) ?? []).map((cell) => cell.replaceAll("\\|", "|").trim());
};

export function markdown(text: string): HTMLElement {
  const root = el("div", { class: "notes" });
  const lines = text.split("\n");
  let place = 0;
  const take = (fits: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    while (place < lines.length && fits(lines[place])) taken.push(lines[place++]);
    return taken;
  };
  const isItem = (line: string) => /^\s*([-*]|\d+\.)\s+/.test(line);
  const isTable = (line: string) => line.trim().startsWith("|");
  const isPlain = (line: string) => line.trim() !== "" && !line.startsWith("#") && !line.startsWith("```") && !isTable(line);
  while (place < lines.length) {
    const line = lines[place];
    const heading = /^(#{1,4})\s+(.*)$/.exec(line);
    if (line.trim() === "") place += 1;
    else if (heading) {
      place += 1;
      root.append(el(heading[1].length <= 2 ? "h3" : "h4", {}, ...inline(heading[2])));
    } else if (line.startsWith("```")) {
      place += 1;
      const code = take((next) => !next.startsWith("```"));
      place += 1;
      root.append(el("pre", {}, code.join("\n")));
    } else if (isTable(line)) {
      const rows = take(isTable).map(cells);
      const ruled = rows.length > 1 && rows[1].every((cell) => /^:?-+:?$/.test(cell));
      const head = ruled ? [el("thead", {}, el("tr", {}, ...rows[0].map((cell) => el("th", {}, ...inline(cell)))))] : [];
      const body = (ruled ? rows.slice(2) : rows).map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, ...inline(cell)))));
      root.append(el("div", { class: "scroll" }, el("table", {}, ...head, el("tbody", {}, ...body))));
    } else if (isItem(line)) {
      const list = el(/^\s*\d/.test(line) ? "ol" : "ul");
      while (place < lines.length && isItem(lines[place])) {
        const first = lines[place++].replace(/^\s*([-*]|\d+\.)\s+/, "");
        const rest = take((next) => /^\s{2,}\S/.test(next) && !isItem(next));
        list.append(el("li", {}, ...inline([first, ...rest.map((next) => next.trim())].join(" "))));
      }
      root.append(list);
    } else if (/^( {4}|\t)/.test(line)) {
      root.append(el("pre", {}, take((next) => /^( {4}|\t)/.test(next)).map((next) => next.replace(/^( {4}|\t)/, "")).join("\n")));
    } else {
      const words = [lines[place++], ...take((next) => isPlain(next) && !isItem(next))];
      root.append(el("p", {}, ...inline(words.join(" "))));
    }
  }
  return root;
}
