// The simulator on the server that the page comes from: the same requests, answered by all cores of its machine.
import type { Given } from "../types";
import { drive } from "./drive";
import type { Checked, Ending, Listener, Made, Section, Simulator } from "./messages";

/** The server that the page comes from. */
export class Server {
  constructor(private readonly token: string | null) {}

  /** The address of something on the server, for a link. */
  address(path: string): string {
    return this.token ? `${path}?token=${this.token}` : path;
  }

  async fetch(path: string, body?: string): Promise<Response> {
    const headers: Record<string, string> = this.token ? { authorization: `Bearer ${this.token}` } : {};
    const init: RequestInit = body === undefined ? { headers } : { method: "POST", headers, body };
    let response: Response;
    try {
      response = await fetch(path, init);
    } catch {
      throw new Error("the server does not answer; is tailback serve still running?");
    }
    if (!response.ok) throw new Error(await response.text());
    return response;
  }
}

export class Remote implements Simulator {
  readonly inPage = false;
  /** The name of this tab, which no other has. */
  private readonly path = `/lab/${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  private stopping: { keep: boolean } | null = null;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly server: Server,
    files: Record<string, string>,
  ) {
    void this.next(() => this.ask({ ask: "files", files })).catch(() => {});
  }

  private async ask(request: Record<string, unknown>): Promise<Made> {
    const bytes = new Uint8Array(await (await this.server.fetch(this.path, JSON.stringify(request))).arrayBuffer());
    const document = new DataView(bytes.buffer).getUint32(0, true);
    return { text: new TextDecoder().decode(bytes.subarray(4, 4 + document)), bytes: bytes.subarray(4 + document) };
  }

  /** One request after the other. */
  private next<T>(act: () => Promise<T>): Promise<T> {
    const made = this.running.then(act, act);
    this.running = made.catch(() => {});
    return made;
  }

  private document<T>(request: Record<string, unknown>): Promise<T> {
    return this.next(async () => JSON.parse((await this.ask(request)).text) as T);
  }

  keys(): Promise<Section> {
    return this.document({ ask: "keys" });
  }

  check(given: Given): Promise<Checked> {
    return this.document({ ask: "check", ...given });
  }

  run(given: Given, listener: Listener): Promise<Ending> {
    return this.next(() => {
      this.stopping = null;
      return drive((request) => this.ask(request), given, listener, { divided: true, stopped: () => Promise.resolve(this.stopping) });
    });
  }

  stop(keep: boolean): void {
    this.stopping = { keep };
  }
}
