// Shows that a running task whose signal aborts gives its place back while it still runs (docs/findings.md).
//
//     npm install p-queue@9.3.5 && node pqueue_abort.mjs
import PQueue from 'p-queue';

const queue = new PQueue({ concurrency: 1 });
const abort = new AbortController();
let running = 0;
let most = 0;

async function task(ms) {
  running++;
  most = Math.max(most, running);
  await new Promise((resolve) => setTimeout(resolve, ms));
  running--;
}

const first = queue.add(() => task(300), { signal: abort.signal }).catch(({ name }) => console.log(`the first: ${name}`));
const second = queue.add(() => task(100));
setTimeout(() => abort.abort(), 100);
await Promise.all([first, second]);
console.log(`concurrency 1, and ${most} ran at once`);
