import type { Report } from "./types";
export async function sweepPage(_report: Report, _into: HTMLElement): Promise<void> {}
