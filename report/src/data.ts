// Blocks of the page unpacked: base64, deflate, and the columns of integers inside.
import type { ColumnAbout, Report, TableAbout } from "./types";

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(base64: string): Promise<Uint8Array> {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function block(id: string): string {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the report lacks its block ${id}`);
  return element.textContent ?? "";
}

export async function readDocument(): Promise<Report> {
  return JSON.parse(new TextDecoder().decode(await inflate(block("document")))) as Report;
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
      let factor = 128;
      while (byte >= 0x80) {
        byte = bytes[place++];
        value += (byte & 0x7f) * factor;
        factor *= 128;
      }
      const signed = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
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
  const all = unpackColumns(await inflate(block(`block-${about.block}`)), about.columns);
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
