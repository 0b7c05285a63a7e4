import type { Report } from "./types";
export async function comparePage(_report: Report, _into: HTMLElement): Promise<void> {}
