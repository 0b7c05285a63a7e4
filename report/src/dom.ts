// Elements without markup: names from a scenario only ever become text.

export type Child = Node | string | null | undefined | false;

type Properties = {
  class?: string;
  id?: string;
  title?: string;
  type?: string;
  role?: string;
  tabindex?: number;
  for?: string;
  aria?: Record<string, string>;
  data?: Record<string, string>;
  on?: Partial<{ [K in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[K]) => void }>;
};

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (properties.class) element.className = properties.class;
  if (properties.id) element.id = properties.id;
  if (properties.title) element.title = properties.title;
  if (properties.type) element.setAttribute("type", properties.type);
  if (properties.role) element.setAttribute("role", properties.role);
  if (properties.for) element.setAttribute("for", properties.for);
  if (properties.tabindex !== undefined) element.tabIndex = properties.tabindex;
  for (const [name, value] of Object.entries(properties.aria ?? {})) element.setAttribute(`aria-${name}`, value);
  for (const [name, value] of Object.entries(properties.data ?? {})) element.dataset[name] = value;
  for (const [name, listener] of Object.entries(properties.on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }
}

export function button(text: string, act: () => void, properties: Properties = {}): HTMLButtonElement {
  const made = el("button", { type: "button", ...properties }, text);
  made.addEventListener("click", act);
  return made;
}

/** A choice among a few; `act` is told which. */
export function choice(label: string, options: [string, string][], chosen: string, act: (value: string) => void): HTMLLabelElement {
  const select = el("select", { aria: { label } });
  for (const [value, text] of options) {
    const option = el("option", {}, text);
    option.value = value;
    option.selected = value === chosen;
    select.append(option);
  }
  select.addEventListener("change", () => act(select.value));
  return el("label", { class: "choice" }, `${label} `, select);
}

let counter = 0;
/** An id that nothing else on the page has. */
export function fresh(prefix: string): string {
  counter += 1;
  return `${prefix}-${counter}`;
}

/** Offers text or bytes as a file. */
export function download(name: string, content: string | Blob, type: string): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = el("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A title as the name of a file. */
export function fileName(title: string): string {
  const name = title.toLowerCase().replace(/[^a-z0-9._]+/g, "-").replace(/^[-.]+|[-.]+$/g, "");
  return name === "" ? "plot" : name.slice(0, 80);
}

/** Builds something when it is about to be seen, or to be printed. */
export function whenSeen(element: Element, build: () => void | Promise<void>): void {
  const once = () => {
    if (!unseen.delete(once)) return;
    observer.disconnect();
    const made = build();
    if (!made) return;
    making.add(made);
    void made.finally(() => making.delete(made));
  };
  const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && once(), { rootMargin: "600px" });
  observer.observe(element);
  unseen.add(once);
}

const unseen = new Set<() => void>();
const making = new Set<Promise<void>>();

/** Builds all that nobody has seen yet, as for paper. */
export async function buildAll(): Promise<void> {
  // What is built may have more in it.
  while (unseen.size > 0 || making.size > 0) {
    for (const build of [...unseen]) build();
    await Promise.allSettled([...making]);
  }
}

window.addEventListener("beforeprint", () => void buildAll());
