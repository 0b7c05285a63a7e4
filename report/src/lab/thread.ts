// The script of the thread that simulates. It is bundled by itself, and the page holds it as a text.
import { work } from "./worker";

work();
