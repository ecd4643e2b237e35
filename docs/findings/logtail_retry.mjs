// Shows how large a batch is that is sent again after an error (docs/findings.md).
//
//     npm install @logtail/tools@0.5.9 && node logtail_retry.mjs
import { createRequire } from 'node:module';

const { makeBatch } = createRequire(import.meta.url)('@logtail/tools');
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
const batcher = makeBatch(4, 100, 3, 100); // 4 logs or 100 ms, and three retries after 100 ms each
let calls = 0;
const push = batcher.initPusher(async (logs) => {
  console.log(`a batch of ${logs.length}, of at most 4: ${logs.join(', ')}`);
  await sleep(50);
  if (++calls === 1) throw new Error('the server is away for a moment');
});

[1, 2, 3, 4].forEach(push);
await sleep(10); // they are under way
[5, 6].forEach(push);
await sleep(50); // they have failed, and wait for their retry
[7, 8, 9, 10, 11, 12].forEach(push);
await sleep(500);
await batcher.flush();
