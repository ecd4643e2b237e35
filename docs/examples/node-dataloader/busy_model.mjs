// Without Batchproof: which batches does DataLoader form while the model is busy?
import DataLoader from 'dataloader';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
const sizes = [];
let turn = Promise.resolve(); // the model executes one batch at a time, and takes 500 ms
const loader = new DataLoader(
  async (keys) => {
    sizes.push(keys.length);
    await (turn = turn.then(() => sleep(500)));
    return keys;
  },
  { cache: false, maxBatchSize: 4, batchScheduleFn: (dispatch) => setTimeout(dispatch, 10) },
);
const answers = [];
for (let key = 0; key < 8; key++) {
  answers.push(loader.load(key));
  await sleep(50); // all eight come while the model is busy with the first
}
await Promise.all(answers);
console.log(`batches of ${sizes.join(', ')}`);
