// What follows the pointer and the instant over a chart: elements of their own, so that the chart beneath them is not painted
// again whenever one of them moves.
import type { Area } from "./axes";
import { el } from "./dom";

/** A mark, in pixels of the chart. */
export type Mark =
  /** The instant that the network shows, or the one that is pointed at. */
  | { kind: "instant" | "pointer"; x: number }
  /** A stretch of time that is being chosen. */
  | { kind: "stretch"; from: number; to: number }
  /** The value of a line where it is pointed at. */
  | { kind: "spot"; x: number; y: number; colour: string };

/** Half of a spot's width. */
const RADIUS = 3;

export class Markers {
  private readonly elements: HTMLElement[] = [];

  constructor(private readonly box: HTMLElement) {}

  /** Shows these marks over the area of a chart and no others; what lies outside of it is left out. */
  show(area: Area, marks: Mark[]): void {
    const inside = (x: number) => x >= area.left - 0.5 && x <= area.left + area.width + 0.5;
    const seen = marks.filter((mark) => mark.kind === "stretch" || inside(mark.x));
    seen.forEach((mark, i) => {
      const element = this.elements[i] ?? this.another();
      const known = `marker ${mark.kind}`;
      if (element.className !== known) element.className = known;
      const { style } = element;
      element.hidden = false;
      style.background = mark.kind === "spot" ? mark.colour : "";
      if (mark.kind === "spot") {
        style.height = style.width = "";
        style.transform = `translate(${mark.x - RADIUS}px, ${mark.y - RADIUS}px)`;
        element.hidden = mark.y < area.top - RADIUS || mark.y > area.top + area.height + RADIUS;
      } else {
        style.height = `${area.height}px`;
        const [from, to] = mark.kind === "stretch" ? [mark.from, mark.to] : [mark.x, mark.x];
        const [left, right] = [Math.max(area.left, from), Math.min(area.left + area.width, to)];
        style.width = mark.kind === "stretch" ? `${Math.max(0, right - left)}px` : "";
        style.transform = `translate(${left}px, ${area.top}px)`;
      }
    });
    for (const element of this.elements.slice(seen.length)) element.hidden = true;
  }

  private another(): HTMLElement {
    const element = el("span", { aria: { hidden: "true" } });
    this.elements.push(element);
    this.box.append(element);
    return element;
  }
}
