// What charts are painted on: a canvas, or the text of an SVG file. One painter, both ways.

export interface TextStyle {
  size?: number;
  anchor?: "start" | "middle" | "end";
  fill: string;
  bold?: boolean;
  /** A quarter turn to the left. */
  upright?: boolean;
}

export interface Stroke {
  colour: string;
  width: number;
  dash?: number[];
  alpha?: number;
  round?: boolean;
}

/** Points are flat: x, y, x, y. A text's y is the middle of its height. */
export interface Surface {
  readonly width: number;
  readonly height: number;
  line(points: ArrayLike<number>, stroke: Stroke): void;
  /** Several lines of one look. */
  lines(all: ArrayLike<number>[], stroke: Stroke): void;
  polygon(points: ArrayLike<number>, fill: string, alpha?: number): void;
  rect(x: number, y: number, width: number, height: number, fill: string, alpha?: number): void;
  circle(x: number, y: number, radius: number, fill: string | null, stroke?: Stroke): void;
  text(x: number, y: number, text: string, style: TextStyle): void;
  image(x: number, y: number, width: number, height: number, pixels: HTMLCanvasElement): void;
  clipped(x: number, y: number, width: number, height: number, paint: () => void): void;
}

export const FONT = 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';

export class CanvasSurface implements Surface {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    readonly width: number,
    readonly height: number,
  ) {}

  private path(points: ArrayLike<number>): void {
    const { context } = this;
    for (let i = 0; i + 1 < points.length; i += 2) {
      if (i === 0) context.moveTo(points[0], points[1]);
      else context.lineTo(points[i], points[i + 1]);
    }
  }

  private stroke(stroke: Stroke): void {
    const { context } = this;
    context.globalAlpha = stroke.alpha ?? 1;
    context.strokeStyle = stroke.colour;
    context.lineWidth = stroke.width;
    context.lineJoin = "round";
    context.lineCap = stroke.round ? "round" : "butt";
    context.setLineDash(stroke.dash ?? []);
    context.stroke();
    context.globalAlpha = 1;
  }

  line(points: ArrayLike<number>, stroke: Stroke): void {
    this.context.beginPath();
    this.path(points);
    this.stroke(stroke);
  }

  lines(all: ArrayLike<number>[], stroke: Stroke): void {
    this.context.beginPath();
    for (const points of all) this.path(points);
    this.stroke(stroke);
  }

  polygon(points: ArrayLike<number>, fill: string, alpha = 1): void {
    const { context } = this;
    context.beginPath();
    this.path(points);
    context.closePath();
    context.globalAlpha = alpha;
    context.fillStyle = fill;
    context.fill();
    context.globalAlpha = 1;
  }

  rect(x: number, y: number, width: number, height: number, fill: string, alpha = 1): void {
    const { context } = this;
    context.globalAlpha = alpha;
    context.fillStyle = fill;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
  }

  circle(x: number, y: number, radius: number, fill: string | null, stroke?: Stroke): void {
    const { context } = this;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) this.stroke(stroke);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const { context } = this;
    context.save();
    context.translate(x, y);
    if (style.upright) context.rotate(-Math.PI / 2);
    context.font = `${style.bold ? "600 " : ""}${style.size ?? 12}px ${FONT}`;
    context.fillStyle = style.fill;
    context.textAlign = style.anchor === "middle" ? "center" : (style.anchor ?? "start");
    context.textBaseline = "middle";
    context.fillText(text, 0, 0);
    context.restore();
  }

  image(x: number, y: number, width: number, height: number, pixels: HTMLCanvasElement): void {
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(pixels, x, y, width, height);
  }

  clipped(x: number, y: number, width: number, height: number, paint: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    paint();
    context.restore();
  }
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
  // What XML has no place for would make the whole file unreadable.
  const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export class SvgSurface implements Surface {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {}

  private path(points: ArrayLike<number>): string {
    let text = "";
    for (let i = 0; i + 1 < points.length; i += 2) text += `${i === 0 ? "M" : "L"}${short(points[i])} ${short(points[i + 1])}`;
    return text;
  }

  private look(stroke: Stroke): string {
    const dash = stroke.dash && stroke.dash.length > 0 ? ` stroke-dasharray="${stroke.dash.join(" ")}"` : "";
    const alpha = stroke.alpha !== undefined && stroke.alpha < 1 ? ` stroke-opacity="${short(stroke.alpha)}"` : "";
    const cap = stroke.round ? ' stroke-linecap="round"' : "";
    return `stroke="${stroke.colour}" stroke-width="${short(stroke.width)}" stroke-linejoin="round"${dash}${alpha}${cap}`;
  }

  line(points: ArrayLike<number>, stroke: Stroke): void {
    this.lines([points], stroke);
  }

  lines(all: ArrayLike<number>[], stroke: Stroke): void {
    const path = all.map((points) => this.path(points)).join("");
    if (path !== "") this.parts.push(`<path d="${path}" fill="none" ${this.look(stroke)}/>`);
  }

  polygon(points: ArrayLike<number>, fill: string, alpha = 1): void {
    const opacity = alpha < 1 ? ` fill-opacity="${short(alpha)}"` : "";
    this.parts.push(`<path d="${this.path(points)}Z" fill="${fill}"${opacity}/>`);
  }

  rect(x: number, y: number, width: number, height: number, fill: string, alpha = 1): void {
    const opacity = alpha < 1 ? ` fill-opacity="${short(alpha)}"` : "";
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"${opacity}/>`);
  }

  circle(x: number, y: number, radius: number, fill: string | null, stroke?: Stroke): void {
    const look = stroke ? ` ${this.look(stroke)}` : "";
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" fill="${fill ?? "none"}"${look}/>`);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const anchor = style.anchor && style.anchor !== "start" ? ` text-anchor="${style.anchor}"` : "";
    const bold = style.bold ? ' font-weight="600"' : "";
    const turn = style.upright ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : "";
    const size = style.size ?? 12;
    this.parts.push(
      `<text x="${short(x)}" y="${short(y + size * 0.35)}" font-size="${size}" fill="${style.fill}"${anchor}${bold}${turn}>${escaped(text)}</text>`,
    );
  }

  image(x: number, y: number, width: number, height: number, pixels: HTMLCanvasElement): void {
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<image ${place} preserveAspectRatio="none" style="image-rendering:pixelated" href="${pixels.toDataURL()}"/>`);
  }

  clipped(x: number, y: number, width: number, height: number, paint: () => void): void {
    this.clips += 1;
    const id = `clip${this.clips}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/></clipPath><g clip-path="url(#${id})">`,
    );
    paint();
    this.parts.push("</g>");
  }

  toString(): string {
    const size = `width="${short(this.width)}" height="${short(this.height)}" viewBox="0 0 ${short(this.width)} ${short(this.height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${escaped(FONT)}">${this.parts.join("\n")}</svg>\n`;
  }
}
