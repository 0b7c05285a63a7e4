// Scenarios to pass on: in the fragment of the page's address, which no server sees, and as files.
import type { Given } from "../types";

const PREFIX = "#lab=";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: ReadableWritablePair<Uint8Array<ArrayBuffer>, BufferSource>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** The scenario as a fragment: JSON, deflated, in base64 for addresses. */
export async function fragmentOf(given: Given): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(given)), new CompressionStream("deflate"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return PREFIX + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The scenario of a fragment; nothing if there is none, or if it is damaged. */
export async function givenOf(fragment: string): Promise<Given | null> {
  if (!fragment.startsWith(PREFIX)) return null;
  try {
    const binary = atob(fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(Uint8Array.from(binary, (letter) => letter.charCodeAt(0)), new DecompressionStream("deflate"));
    const given = JSON.parse(new TextDecoder().decode(bytes)) as Partial<Given>;
    const texts = Array.isArray(given.set) && given.set.every((one) => typeof one === "string");
    return typeof given.name === "string" && typeof given.text === "string" && texts ? (given as Given) : null;
  } catch {
    return null;
  }
}

/** A word of a command line, in quotes where a shell needs them. */
function word(text: string): string {
  return /^[\w./=:%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The command that does the same. */
export function commandOf({ name, set }: Given): string {
  return ["tailback", "run", word(name), ...set.flatMap((one) => ["--set", word(one)])].join(" ");
}
