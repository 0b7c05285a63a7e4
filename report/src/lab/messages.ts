// What the page and the thread that simulates tell each other.
import type { Given } from "../types";

/** A mistake in a scenario, and where it is. */
export interface Complaint {
  file: string;
  line: number;
  column: number;
  width: number;
  message: string;
  help: string;
}

/** A finding of the static checks. */
export interface Finding {
  severity: "error" | "warning" | "note";
  subject: string;
  message: string;
  remedy: string;
}

/** A value of a scenario, and what else it could be. */
export interface Field {
  path: string;
  value: string;
  kind: "time" | "rate" | "size" | "count" | "number" | "percent" | "flag" | "choice" | "choices" | "text";
  allows: string;
  /** In picoseconds, bits per second, bytes or as they are. */
  bounds?: [number, number | null];
  choices?: [string, string][];
  meaning: string | null;
  from: "file" | "set" | "default";
  line: number | null;
  why: string | null;
}

/** What a scenario is found to be. */
export interface Checked {
  complaints: Complaint[];
  name?: string;
  description?: string;
  findings?: Finding[];
  fields?: Field[];
  hosts?: number;
  flows?: number;
  duration_ps?: number;
}

/** A key of the format. */
export interface Key {
  name: string;
  kind: Field["kind"];
  allows: string;
  meaning: string;
  choices?: [string, string][];
  default: { value?: string; why?: string; required?: boolean };
  only: { key: string; values: string[] }[];
  section?: Section;
  list?: boolean;
}

export interface Section {
  about: string;
  keys: Key[];
}

/** How far a run has come. */
export interface Progress {
  now_ps: number;
  duration_ps: number;
  hops: number;
  seconds: number;
}

/** A run that has ended: its document as text, and the columns of its tables. */
export interface Made {
  text: string;
  bytes: Uint8Array;
}

/** How a run ended: with results, refused, or stopped for another. */
export type Ending = { made: Made } | { complaints: Complaint[]; reason: string } | { stopped: true };

/** Who hears of a run while it goes on: how far it has come, and, now and then, its results so far. */
export interface Listener {
  progress(progress: Progress): void;
  seen(made: Made): void;
}

/** What checks scenarios and runs them, one at a time: in the page or on the server that the page comes from. */
export interface Simulator {
  /** Whether it computes in the page, with one core. */
  readonly inPage: boolean;
  keys(): Promise<Section>;
  check(given: Given): Promise<Checked>;
  run(given: Given, listener: Listener): Promise<Ending>;
  /** Ends the run that is under way, with the results up to now or without. */
  stop(keep: boolean): void;
}

export type Order =
  | { order: "module"; module: WebAssembly.Module; files: Record<string, string> }
  | { order: "ask"; number: number; request: Record<string, unknown> }
  | { order: "run"; number: number; given: Given }
  | { order: "stop"; keep: boolean };

export type Report =
  | { report: "ready" }
  | { report: "answer"; number: number; document: unknown }
  | { report: "progress"; number: number; progress: Progress }
  | { report: "seen"; number: number; made: Made }
  | { report: "ended"; number: number; ending: Ending };
