// The thread that simulates: the module, asked in JSON, and runs in steps short enough to be stopped between them.
import type { Given } from "../types";
import type { Complaint, Order, Report } from "./messages";

interface Exports {
  memory: WebAssembly.Memory;
  lab_room(bytes: number): number;
  lab_answer(): number;
  lab_answer_at(): number;
}

/** Milliseconds that a step should take. */
const STEP = 40;

/** The module as a function: a request, answered by a document as text and the bytes that it refers to. */
function asker(exports: Exports): (request: unknown) => { text: string; bytes: Uint8Array } {
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  return (request) => {
    const asked = encoder.encode(JSON.stringify(request));
    const room = exports.lab_room(asked.length);
    new Uint8Array(exports.memory.buffer, room, asked.length).set(asked);
    const length = exports.lab_answer();
    // The memory may have grown, and lies elsewhere then.
    const answer = new Uint8Array(exports.memory.buffer, exports.lab_answer_at(), length);
    const document = new DataView(answer.buffer, answer.byteOffset).getUint32(0, true);
    return { text: decoder.decode(answer.subarray(4, 4 + document)), bytes: answer.slice(4 + document) };
  };
}

/** Lets messages in: a timer would wait for milliseconds after a few times. */
function breath(): Promise<void> {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

export function work(): void {
  const tell = (report: Report, transfer: Transferable[] = []) => (self as unknown as Worker).postMessage(report, transfer);
  let ask: ReturnType<typeof asker> | null = null;
  let stop: { keep: boolean } | null = null;

  const run = async (number: number, given: Given): Promise<void> => {
    const asked = (request: Record<string, unknown>) => JSON.parse(ask!(request).text) as Record<string, unknown>;
    stop = null;
    const begun = performance.now();
    const started = asked({ ask: "start", ...given });
    if (typeof started["duration_ps"] !== "number") {
      const complaints = (started["complaints"] ?? []) as Complaint[];
      return tell({ report: "refused", number, complaints, reason: String(started["refused"] ?? "") });
    }
    const duration = started["duration_ps"];
    let until = Math.max(1, Math.floor(duration / 500));
    for (let ended = false; !ended; ) {
      const before = performance.now();
      const seen = asked({ ask: "advance", until });
      const now = Number(seen["now_ps"]);
      ended = seen["ended"] === true;
      const after = performance.now();
      tell({ report: "progress", number, progress: { now_ps: now, duration_ps: duration, hops: Number(seen["hops"]), seconds: (after - begun) / 1000 } });
      await breath();
      if (stop) break;
      // As far as the same speed reaches in the time of a step, and at most four times as far as before.
      const last = until;
      const factor = Math.min(4, Math.max(0.25, STEP / Math.max(0.1, after - before)));
      step = Math.max(1, Math.floor((step || last) * factor));
      until = Math.min(duration, last + step);
    }
    step = 0;
    if (stop && !(stop as { keep: boolean }).keep) return tell({ report: "stopped", number });
    const made = ask!({ ask: "finish", wall: (performance.now() - begun) / 1000 });
    tell({ report: "made", number, made }, [made.bytes.buffer]);
  };
  let step = 0;
  let running = Promise.resolve();

  self.onmessage = ({ data }: MessageEvent<Order>) => {
    switch (data.order) {
      case "module":
        running = WebAssembly.instantiate(data.module, {}).then((instance) => {
          ask = asker(instance.exports as unknown as Exports);
          ask({ ask: "files", files: data.files });
          tell({ report: "ready" });
        });
        break;
      case "ask":
        running = running.then(() => tell({ report: "answer", number: data.number, document: JSON.parse(ask!(data.request).text) as unknown }));
        break;
      case "run":
        running = running.then(() => run(data.number, data.given));
        break;
      case "stop":
        stop = { keep: data.keep };
    }
  };
}
