// Shows that a callback that rejects ends the process of @martin-kolarik/batch-queue (docs/findings.md).
//
//     npm install @martin-kolarik/batch-queue@1.1.1 && node batch_queue_rejects.mjs
import BatchQueue from '@martin-kolarik/batch-queue';

process.on('exit', (code) => console.log(`the process ends with ${code}`));
const queue = new BatchQueue(async (items) => {
  console.log(`a batch of ${items}`);
  throw new Error('the server is away for a moment');
}, { batchSize: 2, timeout: 100 });
queue.push(1, 2);
setTimeout(() => console.log('this is never printed'), 1000);
