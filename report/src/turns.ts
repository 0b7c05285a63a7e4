// What can wait until what is seen first stands: done one after the other, with the browser in between.

type Act = () => void | Promise<void>;

const waiting: Act[] = [];
const last: Act[] = [];
let begun = false;
let running: Promise<void> = Promise.resolve();

const breath = () => new Promise<void>((done) => setTimeout(done));

async function work(): Promise<void> {
  const next = () => waiting.shift() ?? last.shift();
  for (let act = next(); act; act = next()) {
    await breath();
    await act();
  }
}

/** Does something when its turn comes, or after everything else. */
export function inTurn(act: Act, afterAll = false): void {
  (afterAll ? last : waiting).push(act);
  if (begun) running = running.then(work);
}

/** Lets turns begin; ends when all there are were taken. */
export function takeTurns(): Promise<void> {
  begun = true;
  running = running.then(work);
  return running;
}
