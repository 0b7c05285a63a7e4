// The thread that simulates: the module, asked in JSON.
import { drive } from "./drive";
import type { Given } from "../types";
import type { Made, Order, Progress, Report } from "./messages";

interface Exports {
  memory: WebAssembly.Memory;
  lab_room(bytes: number): number;
  lab_answer(): number;
  lab_answer_at(): number;
}

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
    stop = null;
    const listener = {
      progress: (progress: Progress) => tell({ report: "progress", number, progress }),
      seen: (made: Made) => tell({ report: "seen", number, made }, [made.bytes.buffer]),
    };
    const stopped = () => breath().then(() => stop);
    const ending = await drive((request) => ask!(request), given, listener, { divided: false, stopped });
    tell({ report: "ended", number, ending }, "made" in ending ? [ending.made.bytes.buffer] : []);
  };
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
