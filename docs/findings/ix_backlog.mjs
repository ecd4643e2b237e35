// Shows which batches `bufferCountOrTime` forms for a consumer that takes longer than its time (docs/findings.md).
//
//     npm install ix@7.0.0 && node ix_backlog.mjs
import { from } from 'ix/asynciterable';
import { bufferCountOrTime } from 'ix/asynciterable/operators';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

async function* backlog() {
  for (let item = 0; item < 24; item++) yield item; // all of them are there at once
  await sleep(3000);
}

for (const time of [1000, 100]) {
  const sizes = [];
  await from(backlog()).pipe(bufferCountOrTime(4, time)).forEach(async (batch) => {
    sizes.push(batch.length);
    await sleep(150);
  });
  console.log(`at most 4 items or ${time} ms, and 150 ms for each batch: ${sizes.join(', ')}`);
}
