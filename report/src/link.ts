// What views of one stretch of time share: how much of it is seen, where the pointer is, and the instant of the drawing.

interface Listener {
  act: () => void;
  /** Whose it is: once it was on the page and is no longer, nobody listens. */
  owner: Element | null;
  shown: boolean;
}

function tell(listeners: Set<Listener>): void {
  for (const listener of listeners) {
    if (listener.owner?.isConnected) listener.shown = true;
    else if (listener.shown) {
      listeners.delete(listener);
      continue;
    }
    listener.act();
  }
}

export class TimeLink {
  /** What is seen, in picoseconds. */
  from: number;
  to: number;
  /** Where the pointer is. */
  cursor: number | null = null;
  /** The instant that the drawing of the network shows. */
  now: number;
  private readonly seen = new Set<Listener>();
  private readonly pointed = new Set<Listener>();

  constructor(readonly end: number) {
    this.from = 0;
    this.to = end;
    this.now = 0;
  }

  get whole(): boolean {
    return this.from === 0 && this.to === this.end;
  }

  onView(act: () => void, owner: Element | null = null): void {
    this.seen.add({ act, owner, shown: false });
  }

  onPoint(act: () => void, owner: Element | null = null): void {
    this.pointed.add({ act, owner, shown: false });
  }

  view(from: number, to: number): void {
    // Ten picoseconds are less than any event takes.
    const width = Math.min(this.end, Math.max(10, to - from));
    this.from = Math.max(0, Math.min(from, this.end - width));
    this.to = this.from + width;
    tell(this.seen);
  }

  reset(): void {
    this.view(0, this.end);
  }

  zoom(about: number, factor: number): void {
    this.view(about - (about - this.from) * factor, about + (this.to - about) * factor);
  }

  pan(part: number): void {
    const by = (this.to - this.from) * part;
    const from = Math.max(0, Math.min(this.from + by, this.end - (this.to - this.from)));
    this.view(from, from + (this.to - this.from));
  }

  point(at: number | null): void {
    this.cursor = at;
    tell(this.pointed);
  }

  setNow(at: number): void {
    this.now = Math.max(0, Math.min(this.end, at));
    tell(this.pointed);
  }
}
