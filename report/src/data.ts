// Blocks of the page unpacked: base64, deflate, and the columns of integers inside.
import type { ColumnAbout, Report, TableAbout } from "./types";

type FromBase64 = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  // Browsers of 2025 and later do it themselves.
  const { fromBase64 } = Uint8Array as unknown as FromBase64;
  if (fromBase64) return fromBase64.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(base64: string): Promise<Uint8Array> {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

let whole: Promise<void> | null = null;

/** Waits until the browser has read the page to its end: blocks stand after the script. */
function read(): Promise<void> {
  whole ??= new Promise((done) => {
    if (document.readyState !== "loading") done();
    else document.addEventListener("DOMContentLoaded", () => done());
  });
  return whole;
}

function block(id: string): string {
  const element = document.getElementById(id);
  if (!element) throw new Error(`block ${id} is missing; create the report again`);
  return element.textContent ?? "";
}

/** The bytes of a block by its name. */
export async function readNamed(id: string): Promise<Uint8Array> {
  await read();
  return inflate(block(id));
}

export async function readDocument(): Promise<Report> {
  return JSON.parse(new TextDecoder().decode(await inflate(block("document")))) as Report;
}

/** Bytes of a block. */
async function bytesOfBlock(number: number): Promise<Uint8Array> {
  await read();
  return inflate(block(`block-${number}`));
}

const known = new Map<number, Promise<unknown>>();

/** What a block of JSON says; several runs may share one. */
export function readRecord<T>(number: number): Promise<T> {
  const found = known.get(number) ?? bytesOfBlock(number).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)) as unknown);
  known.set(number, found);
  return found as Promise<T>;
}

/** Columns of integers, as the program packs them: zigzag, seven bits to a byte, differences where `delta`. */
export function unpackColumns(bytes: Uint8Array, about: ColumnAbout[]): Record<string, Float64Array> {
  const columns: Record<string, Float64Array> = {};
  let place = 0;
  for (const { name, count, scale, delta } of about) {
    const values = new Float64Array(count);
    let before = 0;
    for (let i = 0; i < count; i++) {
      let byte = bytes[place++];
      let value = byte & 0x7f;
      let signed: number;
      if (byte < 0x80) signed = (value >>> 1) ^ -(value & 1);
      else {
        // Beyond 31 bits only floats hold it.
        let shift = 7;
        for (; byte >= 0x80 && shift <= 21; shift += 7) {
          byte = bytes[place++];
          value |= (byte & 0x7f) << shift;
        }
        for (let factor = 2 ** shift; byte >= 0x80; factor *= 128) {
          byte = bytes[place++];
          value += (byte & 0x7f) * factor;
        }
        signed = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      }
      before = delta ? before + signed : signed;
      values[i] = before * scale;
    }
    columns[name] = values;
  }
  return columns;
}

/** A table by series: keys and rows of each, and its columns. */
export interface Table {
  about: TableAbout;
  keys: Record<string, Float64Array>;
  /** First row of each series; one more at the end. */
  first: Uint32Array;
  columns: Record<string, Float64Array>;
}

export async function readTable(about: TableAbout): Promise<Table> {
  return tableOf(about, await bytesOfBlock(about.block));
}

/** A table from the bytes of its columns. */
export function tableOf(about: TableAbout, bytes: Uint8Array): Table {
  const all = unpackColumns(bytes, about.columns);
  const rows = all["rows"];
  const first = new Uint32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) first[i + 1] = first[i] + rows[i];
  const keys: Record<string, Float64Array> = {};
  const columns: Record<string, Float64Array> = {};
  let isKey = true;
  for (const { name } of about.columns) {
    if (name === "rows") isKey = false;
    else if (isKey) keys[name] = all[name];
    else columns[name] = all[name];
  }
  return { about, keys, first, columns };
}
