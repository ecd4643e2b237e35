// Shows that a callback that rejects for a full batch ends the process (docs/findings.md).
//
//     npm install @raphaabreu/message-batcher@1.0.1 && node message_batcher_rejects.mjs
import { createRequire } from 'node:module';

const { MessageBatcher } = createRequire(import.meta.url)('@raphaabreu/message-batcher');
const batcher = new MessageBatcher(2, async () => {
  throw new Error('the queue is away');
});

process.on('exit', (code) => console.log(`the process ends with status ${code}`));
batcher.add('one');
try {
  await batcher.add('two');
} catch ({ message }) {
  console.log(`add says: ${message}`);
}
await new Promise((wake) => setTimeout(wake, 500));
console.log('the process goes on');
