import type { Report } from "./types";
export async function stabilityPage(_report: Report, _into: HTMLElement): Promise<void> {}
