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

/** Milliseconds for which the page may be busy between two frames: the rest of a frame is for painting it. */
const SLICE = 6;

/** Lets the browser go on at once: a timer would wait for milliseconds after a few times. */
function aside(): Promise<void> {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

/** For long work in pieces: what is returned is called between pieces, and lets the browser paint and listen when it is due. */
export function inSlices(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < SLICE) return;
    await aside();
    begun = performance.now();
  };
}
