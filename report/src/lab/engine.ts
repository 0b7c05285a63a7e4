// The simulator as the page sees it: a thread that checks scenarios and runs them, one at a time.
import type { Given } from "../types";
import type { Checked, Ending, Listener, Order, Report, Section, Simulator } from "./messages";

interface Waiting {
  done(value: unknown): void;
  failed(error: Error): void;
  listener?: Listener;
}

export class Engine implements Simulator {
  readonly inPage = true;
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private address: string | null = null;

  constructor(
    private readonly script: string,
    private readonly module: WebAssembly.Module,
    private readonly files: Record<string, string>,
  ) {}

  private thread(): Worker {
    if (this.worker) return this.worker;
    this.address ??= URL.createObjectURL(new Blob([this.script], { type: "text/javascript" }));
    const worker = new Worker(this.address);
    worker.onmessage = ({ data }: MessageEvent<Report>) => this.heard(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.fail(new Error(`the simulator failed: ${event.message}; please report the scenario`));
    };
    worker.postMessage({ order: "module", module: this.module, files: this.files } satisfies Order);
    this.worker = worker;
    return worker;
  }

  /** A thread that failed is of no more use: the next request begins another. */
  private fail(error: Error): void {
    this.worker?.terminate();
    this.worker = null;
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const one of all) one.failed(error);
  }

  private heard(report: Report): void {
    if (report.report === "ready") return;
    const waiting = this.waiting.get(report.number);
    if (!waiting) return;
    if (report.report === "progress") return waiting.listener?.progress(report.progress);
    if (report.report === "seen") return waiting.listener?.seen(report.made);
    this.waiting.delete(report.number);
    waiting.done(report.report === "answer" ? report.document : report.ending);
  }

  private tell<T>(order: (number: number) => Order, listener?: Listener): Promise<T> {
    const number = this.next++;
    return new Promise<T>((done, failed) => {
      const waiting: Waiting = { done: done as (value: unknown) => void, failed };
      if (listener) waiting.listener = listener;
      this.waiting.set(number, waiting);
      this.thread().postMessage(order(number));
    });
  }

  keys(): Promise<Section> {
    return this.tell((number) => ({ order: "ask", number, request: { ask: "keys" } }));
  }

  check(given: Given): Promise<Checked> {
    return this.tell((number) => ({ order: "ask", number, request: { ask: "check", ...given } }));
  }

  run(given: Given, listener: Listener): Promise<Ending> {
    return this.tell((number) => ({ order: "run", number, given }), listener);
  }

  stop(keep: boolean): void {
    this.worker?.postMessage({ order: "stop", keep } satisfies Order);
  }
}
