// The front-end of reports.
import { build, start } from "./page";

void start(build);
