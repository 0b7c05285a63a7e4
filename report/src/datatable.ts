// Tables that can be sorted, searched, copied and saved.
import { button, download, el, fileName, type Child } from "./dom";
import { csvLines } from "./plot";

export interface Column<R> {
  name: string;
  /** What it means. */
  meaning?: string;
  /** What it is sorted and saved by. */
  value(row: R): number | string | null;
  /** What is shown, if not the value. */
  text?(row: R): string;
  kind?(row: R): string;
  /** The place in this page that the cell leads to. */
  link?(row: R): string;
  /** What clicking the link does besides. */
  act?(row: R): void;
  number?: boolean;
  /** How dark the cell is, from nothing to one. */
  shade?(row: R): number;
}

/** Rows shown before one asks for more. */
const FIRST = 100;
/** Longer tables than this are not printed whole. */
const PRINTED = 1000;

interface Options {
  sort?: number;
  descending?: boolean;
  note?: string;
  /** Whether rows are long, and stand as cards where there is no room for columns. */
  cards?: boolean;
}

export function dataTable<R>(title: string, columns: Column<R>[], rows: R[], options: Options = {}): HTMLElement {
  let sorted = options.sort ?? -1;
  let descending = options.descending ?? false;
  let wanted = "";
  let most = FIRST;
  const text = (column: Column<R>, row: R) => column.text?.(row) ?? String(column.value(row) ?? "");

  const shownCell = (column: Column<R>, row: R): Child => {
    if (!column.link) return text(column, row);
    const link = el("a", {}, text(column, row));
    link.href = `#${column.link(row)}`;
    if (column.act) link.addEventListener("click", () => column.act?.(row));
    return link;
  };

  const chosen = (): R[] => {
    const found = wanted === "" ? [...rows] : rows.filter((row) => columns.some((column) => text(column, row).toLowerCase().includes(wanted)));
    const column = columns[sorted];
    if (!column) return found;
    const sign = descending ? -1 : 1;
    return found
      .map((row, place) => ({ row, place, key: column.value(row) }))
      .sort((a, b) => {
        // What is empty comes last, whichever way.
        if (a.key === null || b.key === null) return a.key === b.key ? a.place - b.place : a.key === null ? 1 : -1;
        const order = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key : String(a.key).localeCompare(String(b.key), "en", { numeric: true });
        return order * sign || a.place - b.place;
      })
      .map(({ row }) => row);
  };

  const head = el("tr");
  const body = el("tbody");
  const more = el("p", { class: "more" });
  const heads = columns.map((column, number) => {
    const sort = button(column.name, () => {
      descending = sorted === number ? !descending : (column.number ?? false);
      sorted = number;
      fill();
    });
    if (column.meaning) sort.title = column.meaning;
    const cell = el("th", { class: column.number ? "number" : "" }, sort);
    cell.scope = "col";
    head.append(cell);
    return cell;
  });

  const fill = () => {
    heads.forEach((cell, number) => {
      if (number === sorted) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    const found = chosen();
    body.replaceChildren(
      ...found.slice(0, most).map((row) =>
        el("tr", {}, ...columns.map((column) => {
          const cell = el("td", { class: [column.number ? "number" : "", column.kind?.(row) ?? ""].join(" ").trim() }, shownCell(column, row));
          // What may be cut off can be read by resting on it.
          const whole = text(column, row);
          if (whole.length > 30) cell.title = whole;
          if (options.cards) cell.dataset["label"] = column.name;
          if (column.shade) cell.style.setProperty("--shade", `${Math.round(column.shade(row) * 45)}%`);
          return cell;
        })),
      ),
    );
    more.replaceChildren();
    if (found.length > most) {
      more.append(
        `${most} of ${found.length.toLocaleString("en-US")} rows. `,
        button("Show all", () => {
          most = Infinity;
          fill();
        }),
      );
    }
  };

  const data = (): (string | number | null)[][] => [columns.map((column) => column.name), ...chosen().map((row) => columns.map((column) => column.value(row)))];
  const copy = button("Copy", async () => {
    const tabbed = data().map((row) => row.map((cell) => String(cell ?? "").replace(/[\t\n]/g, " ")).join("\t")).join("\n");
    try {
      await navigator.clipboard.writeText(tabbed);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Clipboard not accessible: use CSV";
    }
    setTimeout(() => (copy.textContent = "Copy"), 2000);
  });
  const search = el("input", { type: "search", aria: { label: `find in ${title}` } });
  search.placeholder = "find";
  search.addEventListener("input", () => {
    wanted = search.value.toLowerCase();
    fill();
  });
  fill();
  // On paper nobody can ask for more.
  window.addEventListener("beforeprint", () => {
    if (rows.length > PRINTED || most >= rows.length) return;
    most = rows.length;
    fill();
  });
  const tools = el("span", { class: "tools" }, rows.length > 8 ? search : null, copy, button("CSV", () => download(`${fileName(title)}.csv`, csvLines(data()), "text/csv")));
  return el(
    "section",
    { class: "table" },
    el("header", {}, el("h3", {}, title), options.note ? el("span", { class: "note" }, options.note) : null, tools),
    el("div", { class: "scroll", tabindex: 0, role: "region", aria: { label: title } }, el("table", options.cards ? { class: "cards" } : {}, el("thead", {}, head), body)),
    more,
  );
}
