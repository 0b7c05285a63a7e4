// Names on a drawing: one that would run into another, or out of the drawing, stands elsewhere or is left out. What matters most is
// placed first.
import type { Surface, TextStyle } from "./surface";

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A place where a name could stand, and how it would look there. */
export interface Candidate {
  x: number;
  y: number;
  text: string;
  style: TextStyle;
  /** A ground of that colour, so that the name can be read over lines. */
  ground?: { colour: string; alpha: number };
}

interface Wish {
  rank: number;
  candidates: Candidate[];
}

/** Width of a letter over the size of its font: that of a wide font. */
const WIDE = 0.62;
const WIDE_BOLD = 0.69;

function boxOf({ x, y, text, style }: Candidate): Box {
  const size = style.size ?? 12;
  const length = text.length * size * (style.bold ? WIDE_BOLD : WIDE);
  const [half, before] = [size / 2, style.anchor === "middle" ? length / 2 : style.anchor === "end" ? length : 0];
  // A quarter turn to the left: what was before is below.
  if (style.upright) return { left: x - half, right: x + half, top: y - (length - before), bottom: y + before };
  return { left: x - before, right: x - before + length, top: y - half, bottom: y + half };
}

export class Labels {
  private readonly taken: Box[] = [];
  private readonly wishes: Wish[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  /** Keeps names away from a square. */
  avoid(x: number, y: number, half: number): void {
    this.taken.push({ left: x - half, right: x + half, top: y - half, bottom: y + half });
  }

  /** Asks for a name in the first of some places that is free; the lower the rank, the earlier. */
  add(rank: number, ...candidates: Candidate[]): void {
    this.wishes.push({ rank, candidates });
  }

  /** Draws the names that have room. */
  draw(surface: Surface): void {
    for (const { candidates } of [...this.wishes].sort((a, b) => a.rank - b.rank)) {
      const found = candidates.find((one) => this.free(boxOf(one)));
      if (!found) continue;
      const { x, y, text, style, ground } = found;
      const box = boxOf(found);
      this.taken.push(box);
      if (ground) surface.rect(box.left - 1, box.top - 1, box.right - box.left + 2, box.bottom - box.top + 2, ground.colour, ground.alpha);
      surface.text(x, y, text, style);
    }
  }

  private free({ left, top, right, bottom }: Box): boolean {
    if (left < 0 || right > this.width || top < 0 || bottom > this.height) return false;
    return this.taken.every((other) => right <= other.left || left >= other.right || bottom <= other.top || top >= other.bottom);
  }
}
