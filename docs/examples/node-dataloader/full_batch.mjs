// Without Batchproof: when does DataLoader dispatch a batch that is full?
import DataLoader from 'dataloader';

const began = Date.now();
const dispatched = [];
const loader = new DataLoader(
  async (keys) => {
    dispatched.push(`${keys.length} keys after ${Math.round((Date.now() - began) / 100) * 100} ms`);
    return keys;
  },
  { cache: false, maxBatchSize: 4, batchScheduleFn: (dispatch) => setTimeout(dispatch, 1000) },
);
await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((key) => loader.load(key)));
console.log(dispatched.join(', '));
