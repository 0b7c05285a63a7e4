import type { Report } from "./types";
export async function paperPage(_report: Report, _into: HTMLElement): Promise<void> {}
