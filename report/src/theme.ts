// Colours: safe for colour-blind eyes (after Okabe and Ito), in light and in dark.

export interface Theme {
  dark: boolean;
  paper: string;
  ink: string;
  faint: string;
  grid: string;
  idle: string;
  node: string;
  pause: string;
  root: string;
  victim: string;
  failed: string;
  queue: string;
  buffer: string;
  palette: string[];
}

export const LIGHT: Theme = {
  dark: false,
  paper: "#ffffff",
  ink: "#1b1f24",
  faint: "#5d6672",
  grid: "#e3e6ea",
  idle: "#ccd2d9",
  node: "#38424e",
  pause: "#d55e00",
  root: "#b2182b",
  victim: "#a0308c",
  failed: "#1b1f24",
  queue: "#e69f00",
  buffer: "#a86f00",
  palette: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#4d4d4d"],
};

export const DARK: Theme = {
  dark: true,
  paper: "#15191e",
  ink: "#e8ebee",
  faint: "#9aa4b0",
  grid: "#2c333b",
  idle: "#3c454f",
  node: "#aab4bf",
  pause: "#f28030",
  root: "#ff5a5a",
  victim: "#e58ad8",
  failed: "#e8ebee",
  queue: "#f0b030",
  buffer: "#b98a2b",
  palette: ["#4fa9dd", "#f28030", "#2fc79b", "#e39cc4", "#f0b030", "#8fd0f5", "#b9a0dc", "#c4c4c4"],
};

type Listener = (theme: Theme) => void;
const listeners = new Map<Listener, { owner: Element; shown: boolean }>();
let current = LIGHT;

export function theme(): Theme {
  return current;
}

/** Calls the listener at every change from now on, until its owner was on the page and is no longer. */
export function onTheme(listener: Listener, owner: Element): void {
  listeners.set(listener, { owner, shown: false });
  if (listeners.size > 2 * kept) sweep();
}

/** How many listeners there were after those without an owner were let go. */
let kept = 64;

function sweep(): void {
  for (const [listener, known] of listeners) {
    if (known.owner.isConnected) known.shown = true;
    else if (known.shown) listeners.delete(listener);
  }
  kept = Math.max(64, listeners.size);
}

export function setTheme(dark: boolean): void {
  current = dark ? DARK : LIGHT;
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  sweep();
  for (const listener of listeners.keys()) listener(current);
}

/** Follows the system until the reader chooses; paper is always light. */
export function startTheme(): void {
  const wish = window.matchMedia("(prefers-color-scheme: dark)");
  setTheme(wish.matches);
  wish.addEventListener("change", (event) => setTheme(event.matches));
  let before = current;
  window.addEventListener("beforeprint", () => {
    before = current;
    setTheme(false);
  });
  window.addEventListener("afterprint", () => setTheme(before.dark));
}

const DASHES: number[][] = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

export const KINDS_OF_DASHES = DASHES.length;

/** How the n-th series looks: eight colours, then the same ones dashed. */
export function look(number: number, of: Theme): { colour: string; dash: number[] } {
  const { palette } = of;
  return { colour: palette[number % palette.length], dash: DASHES[Math.floor(number / palette.length) % DASHES.length] };
}

function mix(a: number[], b: number[], part: number): string {
  return `rgb(${a.map((from, i) => Math.round(from + (b[i] - from) * part)).join(",")})`;
}

const LOAD_LIGHT = [[204, 210, 217], [123, 182, 217], [33, 113, 181], [8, 48, 107]];
const LOAD_DARK = [[60, 69, 79], [44, 100, 148], [86, 168, 224], [214, 238, 255]];

/** The colour of a link that is busy for that part of the time: grey to deep blue, brightness alone tells it. */
export function loadColour(part: number, of: Theme): string {
  const scale = of.dark ? LOAD_DARK : LOAD_LIGHT;
  const at = Math.min(1, Math.max(0, part)) * (scale.length - 1);
  const low = Math.min(scale.length - 2, Math.floor(at));
  return mix(scale[low], scale[low + 1], at - low);
}

const HEAT = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** Viridis, for maps. */
export function heatColour(part: number): string {
  const at = Math.min(1, Math.max(0, part)) * (HEAT.length - 1);
  const low = Math.min(HEAT.length - 2, Math.floor(at));
  return mix(HEAT[low], HEAT[low + 1], at - low);
}
