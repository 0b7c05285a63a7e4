// Thousands of directions as pixels: each direction's pixels are found once, and a frame only colours them. Where directions cross, the
// busiest is seen.
import { el } from "./dom";
import { loadColour, type Theme } from "./theme";

export class DirectionBitmap {
  readonly canvas: HTMLCanvasElement;
  private readonly pixels: Uint32Array;
  private readonly first: Uint32Array;
  private readonly seen: Uint8Array;
  private readonly image: ImageData;

  constructor(
    ends: number[][],
    readonly width: number,
    readonly height: number,
    readonly ratio: number,
  ) {
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.canvas = el("canvas");
    this.canvas.width = across;
    this.canvas.height = down;
    this.image = new ImageData(across, down);
    this.seen = new Uint8Array(across * down);
    this.first = new Uint32Array(ends.length + 1);
    const thick = ratio >= 1.5 ? 2 : 1;
    const steps = ends.map(([ax, ay, bx, by]) => Math.max(1, Math.ceil(ratio * Math.max(Math.abs(bx - ax), Math.abs(by - ay)))));
    const pixels = new Uint32Array(steps.reduce((sum, count) => sum + (count + 1) * thick, 0));
    let found = 0;
    for (let direction = 0; direction < ends.length; direction++) {
      const line = ends[direction];
      const ax = line[0] * ratio;
      const ay = line[1] * ratio;
      const bx = line[2] * ratio;
      const by = line[3] * ratio;
      const flat = Math.abs(bx - ax) > Math.abs(by - ay);
      // Only what lies inside; a drawing that is zoomed in has directions far outside.
      if (Math.max(ax, bx) >= 0 && Math.min(ax, bx) < across && Math.max(ay, by) >= 0 && Math.min(ay, by) < down) {
        for (let step = 0; step <= steps[direction]; step++) {
          const x = Math.round(ax + ((bx - ax) * step) / steps[direction]);
          const y = Math.round(ay + ((by - ay) * step) / steps[direction]);
          for (let side = 0; side < thick; side++) {
            const px = flat ? x : x + side;
            const py = flat ? y + side : y;
            if (px >= 0 && px < across && py >= 0 && py < down) pixels[found++] = py * across + px;
          }
        }
      }
      this.first[direction + 1] = found;
    }
    this.pixels = pixels.slice(0, found);
  }

  /** Colours every direction by how busy it is. */
  paint(busy: Float32Array, of: Theme): HTMLCanvasElement {
    const { seen, pixels, first, image } = this;
    seen.fill(0);
    for (let direction = 0; direction < busy.length; direction++) {
      const level = 1 + Math.round(Math.min(1, busy[direction]) * 100);
      for (let i = first[direction]; i < first[direction + 1]; i++) if (seen[pixels[i]] < level) seen[pixels[i]] = level;
    }
    const colours = new Uint32Array(102);
    const bytes = new Uint8Array(colours.buffer);
    for (let level = 1; level <= 101; level++) {
      const part = (level - 1) / 100;
      const [red, green, blue] = loadColour(part, of).match(/\d+/g)!.map(Number);
      // Among thousands of directions the idle ones step back.
      bytes.set([red, green, blue, Math.round(255 * (0.3 + 0.7 * part))], level * 4);
    }
    const out = new Uint32Array(image.data.buffer);
    for (let i = 0; i < out.length; i++) out[i] = colours[seen[i]];
    this.canvas.getContext("2d")?.putImageData(image, 0, 0);
    return this.canvas;
  }
}
