// A run from its start to its end: steps short enough to be stopped between them, and looks at what there is so far.
import type { Given } from "../types";
import type { Complaint, Ending, Listener, Made } from "./messages";

/** Milliseconds that a step should take. */
const STEP = 40;
/** A step is at least this part of the run: one that takes long whatever its length must not make the next ones shorter and shorter. */
const LEAST = 1 / 10_000;
/** Milliseconds before the first look, and at least between two. */
const LOOK = 1000;
/** Looks take at most this part of the time. */
const LOOKING = 0.15;

/** A request, answered by a document as text and the bytes that it refers to. */
export type Ask = (request: Record<string, unknown>) => Made | Promise<Made>;

export interface How {
  /** Steps are as long as they may be: whoever is asked divides the run. */
  divided: boolean;
  /** Whether the run is to end now; asked between steps. */
  stopped(): Promise<{ keep: boolean } | null>;
}

export async function drive(ask: Ask, given: Given, listener: Listener, how: How): Promise<Ending> {
  const asked = async (request: Record<string, unknown>) => JSON.parse((await ask(request)).text) as Record<string, unknown>;
  const begun = performance.now();
  const wall = () => (performance.now() - begun) / 1000;
  const started = await asked({ ask: "start", ...given });
  if (typeof started["duration_ps"] !== "number") {
    return { complaints: (started["complaints"] ?? []) as Complaint[], reason: String(started["refused"] ?? "") };
  }
  const duration = started["duration_ps"];
  let step = how.divided ? duration : Math.max(1, Math.floor(duration / 500));
  let until = step;
  let look = begun + LOOK;
  for (let ended = false; !ended; ) {
    const before = performance.now();
    const seen = await asked({ ask: "advance", until });
    if (typeof seen["now_ps"] !== "number") return { complaints: [], reason: String(seen["refused"] ?? "") };
    ended = seen["ended"] === true;
    const after = performance.now();
    listener.progress({ now_ps: seen["now_ps"], duration_ps: duration, hops: Number(seen["hops"]), seconds: wall() });
    const stop = await how.stopped();
    if (stop && !stop.keep) return { stopped: true };
    if (stop) break;
    if (!ended && after >= look) {
      listener.seen(await ask({ ask: "look", wall: wall() }));
      const took = performance.now() - after;
      look = performance.now() + Math.max(LOOK, took / LOOKING);
    }
    // As far as the same speed reaches in the time of a step, and at most four times as far as before.
    step = Math.max(1, Math.floor(duration * LEAST), Math.floor(step * Math.min(4, Math.max(0.25, STEP / Math.max(0.1, after - before)))));
    until = how.divided ? duration : Math.min(duration, until + step);
  }
  return { made: await ask({ ask: "finish", wall: wall() }) };
}
