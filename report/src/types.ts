// The document of a report, as the program writes it.

export interface ColumnAbout {
  name: string;
  count: number;
  scale: number;
  delta: boolean;
}

export interface TableAbout {
  block: number;
  columns: ColumnAbout[];
  series: number;
  rows: number;
  recorded: number;
  bin_ps: number;
  /** By key: the texts that its numbers stand for. */
  texts?: Record<string, string[]>;
  /** Where its columns lie, in a run that was made in the page. */
  from?: number;
  to?: number;
}

export interface PlanEntry {
  key: string;
  value: string;
  source: string;
}

export interface Manifest {
  version: string;
  commit: string | null;
  name: string;
  plan: { description?: string; entries?: PlanEntry[] } | null;
  seed: number;
  inputs: { path: string; hash: string }[];
  fingerprint: string;
  outcome: { kind: string; text: string; details: unknown };
  simulated_ps: number;
  sample_every_ps: number | null;
  wall_seconds: number;
  threads: number;
  hops: number;
  events: number;
  totals: Record<string, number>;
  tables: { name: string; rows: number; bytes: number }[];
  not_recorded: string[];
}

export interface BufferKind {
  flow_control: "none" | "pause" | "pfc" | "credits";
  frames: boolean;
  shared: number | null;
  capacity: (number | null)[];
  xoff: (number | null)[];
}

export interface NetworkAbout {
  topology: string | null;
  nodes: { name: string[]; role: ("host" | "switch")[]; layer: number[] };
  classes: { name: string; lossless: boolean }[];
  workloads: string[];
  flows: {
    workload: number[];
    path: (number[] | null)[];
    fair_share: (number | null)[];
    bottleneck: (string | null)[];
    stop_ps?: (number | null)[];
  };
  buffers: { kind_of: number[]; switches: BufferKind[]; adapters: BufferKind[] };
  /** Cables that fail: the ports at both ends, and from when to when. */
  faults?: { ports: number[] | null; down_ps: number; up_ps: number | null }[];
  warm_up_ps: number;
  throughput_window_ps: number;
}

export type Cells = (number | string | boolean | null)[];

/** A run as the document names it; all else lies in blocks, by their numbers. */
export interface RunAbout {
  label: string;
  manifest: { simulated_ps: number };
  /** Whether all that was recorded can be looked at, or only what a figure draws. */
  whole: boolean;
  own: number;
  network: number;
  ports: number;
  series: number;
}

/** A cause of a flow's time at one place. */
export interface CauseAbout {
  cause: string;
  root: string | null;
  port: number | null;
  link: string | null;
  /** Whether the flow uses that link. */
  on_path: boolean | null;
  via: string | null;
  by: { flow: string; picoseconds: number }[];
  picoseconds: number;
  share_of_loss: number | null;
}

/** Why one flow took its time. */
export interface WhyFlow {
  flow: string;
  number: number;
  sentence: string;
  victim: boolean;
  complete: boolean;
  picoseconds: number;
  lost_picoseconds: number;
  victim_share_of_loss: number;
  causes: CauseAbout[];
}

/** A root of blocked time. */
export interface RootAbout {
  root: string;
  port: number;
  name: string;
  picoseconds: number;
  victim_picoseconds: number;
  culprits: string[];
}

/** The causes of a run's delays, the worst flows first. */
export interface WhyAbout {
  headline: string;
  started: number;
  victims: number;
  roots: RootAbout[];
  flows: WhyFlow[];
}

/** What the blocks of a run say beside its series. */
export interface RunRecord {
  manifest: Manifest;
  expectations?: Finding[] | null;
  flows: Record<string, Cells>;
  waits: Record<string, Cells>;
  wait_buckets: Record<string, Cells>;
  /** Results of older programs lack these. */
  delays?: Record<string, Cells>;
  queue_levels?: Record<string, Cells>;
  collective_ranks?: Record<string, Cells>;
  requests?: Record<string, Cells>;
  /** Null if the run did not measure causes; results of older programs lack it. */
  why?: WhyAbout | null;
  network: NetworkAbout | null;
  ports: Record<string, Cells>;
  /** The series that can be looked at. */
  tables: Record<string, TableAbout>;
  /** Those that a figure draws, at more detail. */
  drawn: Record<string, TableAbout>;
  /** Tables there was no room for. */
  left_out: string[];
}

export interface AxisValue {
  text: string;
  number: number | null;
  quantity: "time" | "rate" | "size" | "plain" | null;
}

export interface Summary {
  runs: number;
  mean: number;
  median: number;
  half_width_95: number | null;
  /** The interval, cut at the bounds of the quantity; results of older programs lack it. */
  low_95?: number | null;
  high_95?: number | null;
  p10: number;
  p90: number;
}

export interface GridChartAbout {
  kind: "grid";
  title: string;
  along: string;
  x: string;
  legend: string | null;
  y: string;
  quantity: Quantity;
  bars: boolean;
  lines: { name: string; points: { at: string; value: number; interval?: [number, number] | null; x: AxisValue }[] }[];
}

export interface TimeChartAbout {
  kind: "time";
  title: string;
  y: string | null;
  picture: string;
  window_ps: number;
  variants: { variant: string; groups: { name: string; links: boolean; members: number[] }[] }[];
}

export interface Finding {
  name: string;
  source: string | null;
  /** Whether it is ours, not the paper's. */
  ours?: boolean;
  verdict: string;
  /** Why nothing is determined. */
  reason?: string | null;
  verdict_as_we_read_it: string;
  under_other_choices: { choice: string; value: string; verdict: string }[];
  cell?: Record<string, string>;
  // Of numbers.
  expected?: unknown;
  op?: string;
  [key: string]: unknown;
}

/** What a paper says, or we do, counted once however often it is measured. */
export interface Statement {
  statement: string;
  ours: boolean;
  verdict: string;
  measurements: number;
}

export interface FigureAbout {
  paper: string;
  figure: string;
  folder: string;
  title: string;
  simulated: string;
  seeds: number[];
  cells: { values: Record<string, string>; outcomes: string[]; quantities: Record<string, Summary | null> }[];
  choices: { name: string; path: string; values: string[]; why: string | null }[];
  numbers: Finding[];
  trends: Finding[];
  statements: Statement[];
  units?: Record<string, string>;
  charts?: (GridChartAbout | TimeChartAbout)[];
  runs?: { variant: string; folder: string; run?: number; place?: string }[];
}

export interface PaperAbout {
  title: string | null;
  authors: string[];
  year: number | null;
  publisher: string | null;
  /** Figures that were not run and statements that were not checked, and why. */
  missing?: { name: string; why: string }[];
  notes: string;
}

/** What a paper says of several figures together. */
export interface SummaryAbout {
  matrices: { title: string; unit: string; figures: string[]; rows: { variant: string; cells: ({ median: number } | null)[] }[] }[];
  sentences: {
    of: string;
    says: string;
    measure: string;
    source: string | null;
    expected_text: string;
    measured_text: string;
    verdict: string;
    reason?: string | null;
    own_reading: string;
    otherwise: { choice: string; value: string; verdict: string }[];
  }[];
}

export interface SweepAbout {
  name: string;
  seeds: number[];
  /** Quantities of the metrics that a scenario expects something of. */
  units?: Record<string, string> | null;
  axes: { name: string; raw: string[]; values: AxisValue[] }[];
  cells: {
    values: Record<string, string>;
    outcomes: Record<string, number>;
    metrics: Record<string, Summary | null>;
  }[];
}

/** What a fault does, as means over the seeds. */
export interface FaultEffect {
  outcomes: Record<string, number>;
  delivered: number | null;
  completed?: number | null;
  completion: number | null;
  p99_completion: number | null;
  victim_seconds: number | null;
  dropped_frames: number | null;
  storms?: number | null;
  watchdog_frames?: number | null;
}

export interface FaultsAbout {
  name: string;
  seeds: number[];
  without: FaultEffect;
  /** The worst first. */
  faults: ({ name: string; kind: string } & FaultEffect)[];
}

export interface Candidate {
  /** By the path of their key. */
  values: Record<string, AxisValue>;
  is_given: boolean;
  /** Whether all its runs finished and meet all conditions. */
  sound: boolean;
  invalid: string | null;
  outcomes: Record<string, number>;
  goals: Record<string, Summary | null>;
}

export interface TuneAbout {
  name: string;
  keys: { path: string; from: string; to: string; logarithmic: boolean }[];
  goals: { name: string; unit: string; maximise: boolean }[];
  conditions: string[];
  seeds: number[];
  candidates: Candidate[];
  /** Places of candidates. */
  front: number[];
  best: number | null;
}

export interface CompareAbout {
  name: string;
  key: string;
  runs: { value: string; folder: string }[];
  rows: Record<string, string | number | null>[];
}

export interface Report {
  kind: "run" | "compare" | "sweep" | "faults" | "tune" | "figure" | "paper" | "stability" | "lab";
  title: string;
  program: { version: string; commit: string | null };
  runs: RunAbout[];
  compare?: CompareAbout;
  sweep?: SweepAbout;
  faults?: FaultsAbout;
  tune?: TuneAbout;
  paper?: PaperAbout | null;
  summary?: SummaryAbout | null;
  figures?: FigureAbout[];
  /** Of all figures and sentences together. */
  statements?: Statement[];
  stability?: Record<string, any>;
  lab?: LabAbout;
}

/** A scenario, and what is set over it. */
export interface Given {
  name: string;
  text: string;
  set: string[];
}

/** A scenario with a question, whose expectations are met by an answer. */
export interface Lesson {
  title: string;
  name: string;
  text: string;
  /** In Markdown. */
  about: string;
  question: string;
  answer: string;
  /** Keys to change. */
  change: string[];
  /** What is to be set. */
  solution: string;
}

/** What a page with a simulator in it can run. */
export interface LabAbout {
  /** Scenarios to begin with, by group. */
  examples: { group: string; title: string; name: string; text: string }[];
  lessons?: Lesson[];
  /** Files that these name. */
  files: Record<string, string>;
  /** What was recorded, in the report of a run. */
  given?: Given;
  /** The simulator is the server that the page comes from; its token, if it wants one. */
  server?: { token: string | null } | null;
}

export type Quantity = "time" | "rate" | "size" | "fraction" | "count" | "frames" | "plain";
