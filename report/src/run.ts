// A recorded run: its ports, flows and series, unpacked when they are first asked for.
import { readRecord, readTable, tableOf, type Table } from "./data";
import { TimeLink } from "./link";
import { addAmounts, addLevels, counts, levels, rates, windowed, type Amounts, type Series } from "./series";
import type { BufferKind, Cells, NetworkAbout, RunAbout, RunRecord, TableAbout, WhyAbout } from "./types";

export interface Port {
  number: number;
  name: string;
  node: number;
  peerNode: number;
  peerPort: number;
  rate: number;
  /** "a → b", with the port's number where several links join the two. */
  direction: string;
}

export interface Flow {
  number: number;
  name: string;
  source: string;
  destination: string;
  /** Priority or virtual lane. */
  class: number;
  start: number;
  /** When it was no longer under way: complete, stopped, or all of it arrived or lost; the end of the run if neither. */
  end: number;
  /** Whether it has a size. */
  finite: boolean;
  /** Whether it can never complete: a frame of it was lost that is not sent again. */
  never: boolean;
  completed: number | null;
  throughput: number | null;
  workload: number;
  path: number[] | null;
  fairShare: number | null;
  bottleneck: string | null;
  bytes: number;
}

export interface Node {
  name: string;
  host: boolean;
  layer: number;
  ports: number[];
}

function numbers(cells: Cells | undefined): number[] {
  return (cells ?? []).map((cell) => Number(cell ?? 0));
}

function texts(cells: Cells | undefined): string[] {
  return (cells ?? []).map((cell) => String(cell ?? ""));
}

const none = new Float64Array(0);

/** Where a run comes from. */
interface Source {
  record(): Promise<RunRecord>;
  table(about: TableAbout): Promise<Table>;
}

/** A recorded run in blocks, which are read by their numbers. */
function inBlocks({ own, network, ports, series }: RunAbout, read: <T>(number: number) => Promise<T>, table: Source["table"]): Source {
  return {
    record: async () => {
      const parts = await Promise.all([
        read<Omit<RunRecord, "network" | "ports" | "tables" | "drawn" | "left_out">>(own),
        read<RunRecord["network"]>(network),
        read<RunRecord["ports"]>(ports),
        read<Pick<RunRecord, "tables" | "drawn" | "left_out">>(series),
      ]);
      return { ...parts[0], network: parts[1], ports: parts[2], ...parts[3] };
    },
    table,
  };
}

export class Run {
  readonly end: number;
  sample = 1;
  readonly ports: Port[] = [];
  readonly nodes: Node[] = [];
  readonly flows: Flow[] = [];
  workloads: string[] = [];
  network: NetworkAbout | null = null;
  readonly link: TimeLink;
  private record: RunRecord | null = null;
  private opening: Promise<void> | null = null;
  private readonly loading = new Map<string, Promise<void>>();
  private readonly tables = new Map<string, Table>();
  private readonly places = new Map<string, Map<string, number>>();
  private used: Set<number> | null = null;

  /** With `drawn`, a run that has the series that a figure draws of it and no others. */
  constructor(
    private readonly stub: Pick<RunAbout, "label" | "manifest">,
    link?: TimeLink,
    private readonly drawn = false,
    private readonly source: Source = inBlocks(stub as RunAbout, readRecord, readTable),
  ) {
    this.end = Math.max(1, stub.manifest.simulated_ps);
    this.link = link ?? new TimeLink(this.end);
  }

  /** A run that was made in this page; `bytes` are the columns of its tables. */
  static live(label: string, record: RunRecord, bytes: Uint8Array, link?: TimeLink): Run {
    const source: Source = {
      record: () => Promise.resolve(record),
      table: (about) => Promise.resolve(tableOf(about, bytes.subarray(about.from, about.to))),
    };
    return new Run({ label, manifest: record.manifest }, link, false, source);
  }

  /** A recorded run whose blocks are not in the page. */
  static from(about: RunAbout, bytes: (number: number) => Promise<Uint8Array>, link?: TimeLink): Run {
    const read = async <T>(number: number) => JSON.parse(new TextDecoder().decode(await bytes(number))) as T;
    const table = async (of: TableAbout) => tableOf(of, await bytes(of.block));
    return new Run(about, link, false, inBlocks(about, read, table));
  }

  get label(): string {
    return this.stub.label;
  }

  /** What is known of it; there once it was opened. */
  get about(): RunRecord {
    if (!this.record) throw new Error(`${this.label} was not opened`);
    return this.record;
  }

  /** The causes of its delays, if it measured them. */
  get why(): WhyAbout | null {
    return this.record?.why ?? null;
  }

  /** The texts that the numbers of a key stand for. */
  texts(name: string, key: string): string[] {
    return this.series[name]?.texts?.[key] ?? [];
  }

  /** The series it has. */
  get series(): Record<string, TableAbout> {
    return this.drawn ? this.about.drawn : this.about.tables;
  }

  /** Reads all but the series. */
  open(): Promise<void> {
    this.opening ??= (async () => {
      this.record = await this.source.record();
      this.sample = this.record.manifest.sample_every_ps ?? this.end;
      this.network = this.record.network;
      this.workloads = this.network?.workloads ?? [];
      this.readNodes();
      this.readFlows();
    })();
    return this.opening;
  }

  private readNodes(): void {
    const { ports } = this.about;
    const owners = texts(ports["node"]);
    const peers = texts(ports["peer"]);
    const known = this.network?.nodes;
    const index = new Map<string, number>();
    const node = (name: string, host: boolean, layer: number) => {
      index.set(name, this.nodes.length);
      this.nodes.push({ name, host, layer, ports: [] });
    };
    if (known) known.name.forEach((name, i) => node(name, known.role[i] === "host", known.layer[i]));
    else {
      // A host has one cable; results of before the network was written down say no more.
      const degree = new Map<string, number>();
      for (const owner of owners) degree.set(owner, (degree.get(owner) ?? 0) + 1);
      for (const [name, cables] of degree) node(name, cables === 1, cables === 1 ? 0 : 1);
    }
    const names = texts(ports["name"]);
    const peerPorts = numbers(ports["peer_port"]);
    const speeds = numbers(ports["rate"]);
    const pairs = new Map<string, number>();
    for (let i = 0; i < owners.length; i++) pairs.set(`${owners[i]}\n${peers[i]}`, (pairs.get(`${owners[i]}\n${peers[i]}`) ?? 0) + 1);
    for (let i = 0; i < owners.length; i++) {
      const several = (pairs.get(`${owners[i]}\n${peers[i]}`) ?? 0) > 1;
      const from = several ? names[i] : owners[i];
      const owner = index.get(owners[i]) ?? 0;
      this.nodes[owner]?.ports.push(i);
      this.ports.push({
        number: i,
        name: names[i],
        node: owner,
        peerNode: index.get(peers[i]) ?? 0,
        peerPort: peerPorts[i],
        rate: speeds[i],
        direction: `${from} \u2192 ${peers[i]}`,
      });
    }
  }

  private readFlows(): void {
    const { flows } = this.about;
    const about = this.network?.flows;
    const names = texts(flows["name"]);
    const maybe = (cell: Cells[number]) => (cell === null || cell === undefined ? null : Number(cell));
    for (let i = 0; i < names.length; i++) {
      const completed = maybe(flows["completed"]?.[i]);
      this.flows.push({
        number: i,
        name: names[i],
        source: String(flows["source"]?.[i] ?? ""),
        destination: String(flows["destination"]?.[i] ?? "any"),
        class: Number(flows["class"]?.[i] ?? 0),
        start: Number(flows["start"]?.[i] ?? 0),
        end: Math.min(completed ?? Infinity, maybe(flows["ended"]?.[i]) ?? Infinity, about?.stop_ps?.[i] ?? Infinity, this.end),
        finite: maybe(flows["size"]?.[i]) !== null,
        never: maybe(flows["size"]?.[i]) !== null && completed === null && Number(flows["lost_frames"]?.[i] ?? 0) > 0,
        completed,
        throughput: maybe(flows["throughput"]?.[i]),
        workload: about?.workload[i] ?? 0,
        path: about?.path[i] ?? null,
        fairShare: about?.fair_share[i] ?? null,
        bottleneck: about?.bottleneck[i] ?? null,
        bytes: Number(flows["bytes"]?.[i] ?? 0),
      });
    }
  }

  /** The room of a node's inputs, if it is known. */
  bufferOf(node: number): BufferKind | null {
    const buffers = this.network?.buffers;
    if (!buffers) return null;
    const kinds = this.nodes[node].host ? buffers.adapters : buffers.switches;
    return kinds[buffers.kind_of[node]] ?? null;
  }

  /** Unpacks these tables, or all; one after the other, if something is to be done between them. */
  async load(names?: string[], between?: () => Promise<void>): Promise<void> {
    await this.open();
    const wanted = Object.keys(this.series).filter((name) => names?.includes(name) ?? true);
    const load = (name: string) => {
      const loading = this.loading.get(name) ?? this.unpack(name);
      this.loading.set(name, loading);
      return loading;
    };
    if (!between) return void (await Promise.all(wanted.map(load)));
    for (const name of wanted) {
      await load(name);
      await between();
    }
  }

  private async unpack(name: string): Promise<void> {
    const table = await this.source.table(this.series[name]);
    this.tables.set(name, table);
    const places = new Map<string, number>();
    const keys = Object.values(table.keys);
    for (let i = 0; i < table.about.series; i++) places.set(keys.map((key) => key[i]).join(" "), i);
    this.places.set(name, places);
  }

  table(name: string): Table | undefined {
    return this.tables.get(name);
  }

  has(name: string): boolean {
    return (this.series[name]?.rows ?? 0) > 0;
  }

  /** A column of one series. */
  column(name: string, column: string, ...key: number[]): Float64Array {
    const table = this.tables.get(name);
    const place = this.places.get(name)?.get(key.join(" "));
    if (!table || place === undefined) return none;
    return table.columns[column]?.subarray(table.first[place], table.first[place + 1]) ?? none;
  }

  /** The keys of every series of a table. */
  keys(name: string): number[][] {
    const table = this.tables.get(name);
    if (!table) return [];
    const keys = Object.values(table.keys);
    return Array.from({ length: table.about.series }, (_, i) => keys.map((key) => key[i]));
  }

  amounts(table: "flow_samples" | "links", column: string, members: number[]): Amounts {
    const one = (key: number): Amounts => ({
      times: this.column(table, "time", key),
      intervals: this.column(table, "interval", key),
      amounts: this.column(table, column, key),
    });
    return addAmounts(members.map(one));
  }

  /** Bytes per interval as bits per second; over a window, or of each interval if that is zero. */
  throughput(table: "flow_samples" | "links", members: number[], window: number): Series {
    const amounts = this.amounts(table, "bytes", members);
    return window > 0 ? windowed(amounts, window, 8e12, this.end) : rates(amounts, 8e12, this.end);
  }

  /** Whether nobody can hold anybody back. */
  lossy(): boolean {
    const buffers = this.network?.buffers;
    return buffers !== undefined && [...buffers.switches, ...buffers.adapters].every((kind) => kind.flow_control === "none");
  }

  /** Parts of the time: of how busy wires were, or of how long they lacked credits. */
  utilisation(members: number[], window: number, column: "busy" | "starved" = "busy"): Series {
    const amounts = this.amounts("links", column, members);
    const share = 1 / Math.max(1, members.length);
    return window > 0 ? windowed(amounts, window, share, this.end) : rates(amounts, share, this.end);
  }

  /** A level of the tables queues, occupancy or rates, summed over series. */
  level(table: "queues" | "occupancy" | "rates", column: string, keys: number[][], before: number | null): Series {
    return addLevels(keys.map((key) => levels(this.column(table, "time", ...key), this.column(table, column, ...key), before)));
  }

  /** Notices to flows, counted. */
  notices(flows: Set<number>): Series {
    const all: [number, number][] = [];
    for (const key of this.keys("notices")) {
      if (!flows.has(key[0])) continue;
      const times = this.column("notices", "time", ...key);
      const weights = this.column("notices", "count", ...key);
      times.forEach((time, i) => all.push([time, weights[i]]));
    }
    all.sort((a, b) => a[0] - b[0]);
    return counts(Float64Array.from(all, ([time]) => time), Float64Array.from(all, ([, weight]) => weight));
  }

  /** The window over which the plan averages throughput, and others that make sense. */
  windows(): { all: number[]; own: number } {
    const own = Math.max(this.sample, this.network?.throughput_window_ps ?? this.sample * 10);
    const all = [0, ...new Set([own, own / 5, own * 5, this.sample * 10].filter((window) => window > this.sample && window < this.end))];
    if (!all.includes(own)) all.push(own);
    return { all: all.sort((a, b) => a - b), own };
  }

  /** Flows by workload. */
  groups(): { name: string; members: number[] }[] {
    const groups = this.workloads.map((name) => ({ name, members: [] as number[] }));
    for (const flow of this.flows) groups[flow.workload]?.members.push(flow.number);
    return groups.filter((group) => group.members.length > 0);
  }

  /** Flows by class. */
  byClass(): { name: string; members: number[] }[] {
    const classes = [...this.usedClasses].sort((a, b) => a - b);
    return classes.map((number) => ({ name: this.className(number), members: this.flows.filter((flow) => flow.class === number).map((flow) => flow.number) }));
  }

  /** Directions whose link is down at some time from one instant to another. */
  failed(from: number, to: number): number[] {
    const faults = this.network?.faults ?? [];
    return faults.filter(({ down_ps, up_ps }) => down_ps < to && (up_ps ?? Infinity) > from).flatMap(({ ports }) => ports ?? []);
  }

  /** Cables that failed before the end, each with its two ends and when. */
  failures(): { cable: string; from: number; to: number | null }[] {
    const name = (port: number) => `${this.nodes[this.ports[port].node].name} \u2013 ${this.nodes[this.ports[port].peerNode].name}`;
    const faults = (this.network?.faults ?? []).filter(({ ports, down_ps }) => (ports?.length ?? 0) > 0 && down_ps < this.end);
    return faults.map(({ ports, down_ps, up_ps }) => ({ cable: name(ports![0]), from: down_ps, to: up_ps !== null && up_ps < this.end ? up_ps : null }));
  }

  /** The classes that flows are of. */
  get usedClasses(): Set<number> {
    this.used ??= new Set(this.flows.map((flow) => flow.class));
    return this.used;
  }

  /** A direction, with its class where flows are of several. */
  directionOf(port: number, of: number): string {
    const { direction } = this.ports[port];
    return this.usedClasses.size > 1 ? `${direction} (${this.className(of)})` : direction;
  }

  className(number: number): string {
    return this.network?.classes[number]?.name ?? `class ${number}`;
  }
}
