// Shows that saturated's interval is over for good once its handler has thrown (docs/findings.md).
//
//     npm install saturated@1.0.0 && node saturated_throws.mjs
import saturated from 'saturated';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
let calls = 0;
const rated = saturated((items) => {
  console.log(`the handler gets [${items}]`);
  if (++calls === 1) throw new Error('the server is away for a moment');
}, { max: 3, interval: 200 });

for (const item of [1, 2, 3]) {
  try {
    rated.push(item);
  } catch (error) {
    console.log(`push(${item}) throws: ${error.message}`);
  }
}
rated.push(4);
await sleep(2000);
console.log(`after 2 s, with an interval of 0.2 s: ${rated.size()} still waits`);
rated.end();
