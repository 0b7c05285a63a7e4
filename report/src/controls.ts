// The slider that moves drawings through time, and plays them. It stays on the page while the run that it moves is replaced by
// another, so that a drag or a playback goes on.
import { button, choice, el } from "./dom";
import { showTime } from "./format";
import type { TimeLink } from "./link";

interface Drawing {
  show(time: number): void;
}

/** Milliseconds in which the stretch that is seen is played. */
const PLAYED = 12_000;

const SPEEDS: [string, string][] = [["0.1", "0.1\u00d7"], ["0.25", "0.25\u00d7"], ["1", "1\u00d7"], ["4", "4\u00d7"]];

export class Controls {
  readonly root: HTMLElement;
  private readonly slider = el("input", { type: "range", class: "slider", aria: { label: "time" } });
  private readonly clock = el("output", { class: "clock" });
  private readonly play: HTMLButtonElement;
  private link: TimeLink | null = null;
  private drawings: Drawing[] = [];
  /** Picoseconds of a step of the slider. */
  private sample = 1;
  private speed = 1;
  private playing = false;
  private last = 0;
  private drawnAt = -1;

  constructor() {
    this.play = button("\u25b6 Play", () => this.start(!this.playing), { class: "play", aria: { pressed: "false" } });
    this.slider.min = "0";
    this.slider.addEventListener("input", () => this.link?.setNow(Number(this.slider.value) * this.sample));
    const speed = choice("speed", SPEEDS, "1", (value) => (this.speed = Number(value)));
    this.root = el("div", { class: "controls" }, this.play, this.slider, this.clock, speed);
  }

  /** Moves these drawings from now on. */
  bind(link: TimeLink, sample: number, drawings: Drawing[]): void {
    [this.link, this.sample, this.drawings, this.drawnAt] = [link, sample, drawings, -1];
    this.slider.max = String(Math.max(1, Math.round(link.end / sample)));
    link.onPoint(() => this.link === link && this.move());
    this.move();
  }

  private move(): void {
    const { link, sample, slider } = this;
    if (!link) return;
    const step = Math.ceil(link.now / sample - 1e-9);
    if (step === this.drawnAt) return;
    this.drawnAt = step;
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", showTime(link.now));
    this.clock.textContent = showTime(Math.max(sample, step * sample));
    for (const drawing of this.drawings) drawing.show(link.now);
  }

  private start(on: boolean): void {
    const { link } = this;
    this.playing = on;
    this.play.textContent = on ? "\u23f8 Pause" : "\u25b6 Play";
    this.play.setAttribute("aria-pressed", String(on));
    if (!on || !link) return;
    // At the end it begins again.
    if (link.now >= link.to - this.sample / 2) link.setNow(link.from);
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  private tick(now: number): void {
    const { link } = this;
    if (!this.playing || !link) return;
    const by = (Math.max(0, now - this.last) / PLAYED) * (link.to - link.from) * this.speed;
    this.last = now;
    const at = Math.min(link.to, link.now + by);
    link.setNow(at);
    if (at >= link.to) this.start(false);
    else requestAnimationFrame((next) => this.tick(next));
  }
}
