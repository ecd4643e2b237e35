// Shows what becomes of prom-utils' batchQueue when its function fails once (docs/findings.md).
//
//     npm install prom-utils@0.17.0 && node prom_utils_queue.mjs
import { batchQueue } from 'prom-utils';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
process.on('unhandledRejection', (error) => console.log(`unhandled: ${error.message}`)); // without this, the process ends

for (const [title, first] of [['a full batch fails', 2], ['a batch that the timer sends fails', 1]]) {
  console.log(title);
  let calls = 0;
  const write = async (items) => {
    console.log(`  write(${items})`);
    if (++calls === 1) throw new Error('the database is away for a moment');
  };
  const queue = batchQueue(write, { batchSize: 2, timeout: 50 });
  for (let item = 1; item <= 6; item++) {
    await queue.enqueue(item).catch((error) => console.log(`  enqueue(${item}) failed: ${error.message}`));
    if (item === first) await sleep(100);
  }
  await sleep(200);
  console.log(`  ${queue.length} items still wait`);
}
