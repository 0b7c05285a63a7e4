// Fingers on a chart over time: one moves along it, two stretch it, two taps show the whole time. Up and down the page
// scrolls, which the browser does by itself (`touch-action: pan-y`).
import type { Area } from "./axes";
import type { TimeLink } from "./link";

/** Two taps are one sign if no more than this lies between them. */
const TWICE_MS = 350;
const TWICE_PX = 30;
/** A finger that moved less than this has tapped. */
const STILL_PX = 8;
/** Fingers nearer to each other than this say nothing of a scale. */
const APART_PX = 12;

interface Finger {
  /** The instant that was under it when it came down or another came or went. */
  time: number;
  place: number;
}

export function fingers(canvas: HTMLCanvasElement, link: TimeLink, area: () => Area, tapped: (time: number) => void): void {
  const down = new Map<number, Finger>();
  let start: { x: number; y: number } | null = null;
  let last: { x: number; y: number; at: number } | null = null;
  const placeOf = (event: PointerEvent) => event.clientX - canvas.getBoundingClientRect().left - area().left;
  const timeAt = (place: number) => link.from + (place / area().width) * (link.to - link.from);
  const settle = () => down.forEach((finger) => (finger.time = timeAt(finger.place)));

  const drag = () => {
    const [one, two] = [...down.values()];
    const { width } = area();
    if (!two) {
      if (!link.whole) link.view(one.time - (one.place / width) * (link.to - link.from), one.time + (1 - one.place / width) * (link.to - link.from));
      link.point(Math.min(link.to, Math.max(link.from, timeAt(one.place))));
      return;
    }
    if (Math.abs(two.place - one.place) < APART_PX) return;
    const scale = (two.time - one.time) / (two.place - one.place);
    if (!(scale > 0)) return;
    const from = one.time - one.place * scale;
    // As far as there is time: what lies before and after the run is not shown.
    link.view(Math.max(0, from), Math.min(link.end, from + width * scale));
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    start = down.size === 0 ? { x: event.clientX, y: event.clientY } : null;
    down.set(event.pointerId, { time: 0, place: placeOf(event) });
    settle();
  });
  canvas.addEventListener("pointermove", (event) => {
    const finger = down.get(event.pointerId);
    if (!finger) return;
    if (start && Math.hypot(event.clientX - start.x, event.clientY - start.y) < STILL_PX) return;
    start = null;
    finger.place = placeOf(event);
    drag();
  });
  const lift = (event: PointerEvent) => {
    const finger = down.get(event.pointerId);
    if (!finger) return;
    down.delete(event.pointerId);
    settle();
    if (!start || event.type === "pointercancel") return;
    const now = { x: event.clientX, y: event.clientY, at: event.timeStamp };
    if (last && now.at - last.at < TWICE_MS && Math.hypot(now.x - last.x, now.y - last.y) < TWICE_PX) {
      last = null;
      link.reset();
      return;
    }
    last = now;
    tapped(Math.min(link.to, Math.max(link.from, timeAt(finger.place))));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
}
