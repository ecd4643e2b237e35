// Shows that batched-function never calls its function again once that has rejected (docs/findings.md).
//
//     npm install batched-function@3.0.0 && node batched_function_rejects.mjs
import batchedFunction from 'batched-function';

process.on('unhandledRejection', (error) => console.log(`nobody handles: ${error.message}`));
let calls = 0;
const batched = batchedFunction(async (values) => {
  console.log(`called with ${values}`);
  if (++calls === 1) throw new Error('the server is away for a moment');
}, { delay: 50 });
batched(1);
setTimeout(() => batched(2), 300);
setTimeout(() => console.log(`after a second: ${calls} call`), 1300);
