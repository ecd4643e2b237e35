// Shows two defects of kafkajs-buffer's limits (docs/findings.md).
//
//     npm install kafkajs-buffer@1.0.2 kafkajs && node kafkajs_buffer.mjs
import { createRequire } from 'node:module';

const { KafkajsBuffer } = createRequire(import.meta.url)('kafkajs-buffer');
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
const message = (key) => ({ topic: 'example', messages: [{ key, value: 'x' }] });

for (const name of ['queueBufferingMaxMs', 'qeueuBufferingMaxMs']) {
  const began = Date.now();
  const sent = new Promise((resolve) => {
    const buffer = new KafkajsBuffer({ send: async () => resolve(Date.now() - began) }, { [name]: 50 });
    buffer.push(message('one'));
    const polling = setInterval(() => buffer.poll(), 5);
    setTimeout(() => clearInterval(polling), 1500);
  });
  console.log(`${name}: 50 -> a message is sent after ${Math.round((await sent) / 50) * 50} ms`);
}

const buffer = new KafkajsBuffer({ send: async () => {} }, { queueBufferingMaxMessages: 4 });
const push = (key) => {
  try {
    buffer.push(message(key));
    return 'accepted';
  } catch {
    return 'refused';
  }
};
console.log('at most 4:', Array.from({ length: 10 }, (_, number) => push(`${number}`)).join(', '));
await buffer.flush();
await sleep(0);
console.log('after a flush, with an empty buffer:', push('again'));
