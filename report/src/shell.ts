// The frame of the page: title, contents, theme, sections.
import { buildAll, button, el, type Child } from "./dom";
import { setTheme, theme } from "./theme";
import type { Report } from "./types";

const KINDS: Record<Report["kind"], string> = {
  run: "Run",
  compare: "Comparison",
  sweep: "Sweep",
  faults: "Campaign of faults",
  tune: "Search",
  figure: "Figure of a paper",
  paper: "Paper",
  stability: "Stability",
  lab: "Lab",
};

export function section(title: string, id: string, ...children: Child[]): HTMLElement {
  const made = el("section", { class: "part", id, aria: { label: title } }, el("h2", {}, title), ...children);
  return made;
}

/** Names and what they are. */
export function facts(list: [string, Child][]): HTMLElement {
  const pairs = list.filter(([, value]) => value !== "" && value !== null);
  return el("dl", { class: "facts" }, ...pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** Prints the page once all of it is there and painted. */
async function printed(): Promise<void> {
  await buildAll();
  await new Promise((painted) => setTimeout(painted, 400));
  window.print();
}

/** The head of the page; contents are filled in once the sections are there. */
export function head(report: Report): { header: HTMLElement; fill: () => void } {
  const nav = el("nav", { aria: { label: "contents" } });
  const dark = button("", () => {
    setTheme(!theme().dark);
    label();
  });
  const label = () => (dark.textContent = theme().dark ? "Light" : "Dark");
  label();
  const { version, commit } = report.program;
  const by = `tailback ${version}${commit ? ` (${commit.slice(0, 12)})` : ""}`;
  const header = el(
    "header",
    { class: "page" },
    el("div", { class: "titles" }, el("p", { class: "kind" }, KINDS[report.kind]), el("h1", {}, report.title), el("p", { class: "by" }, by)),
    el("div", { class: "page-tools" }, dark, button("Print", () => void printed())),
    nav,
  );
  const fill = () => {
    const parts = [...document.querySelectorAll<HTMLElement>("section.part")];
    nav.replaceChildren(
      ...parts.map((part) => {
        const link = el("a", {}, part.getAttribute("aria-label") ?? "");
        link.href = `#${part.id}`;
        return link;
      }),
    );
  };
  return { header, fill };
}
