// Shows what `Topic.flush` does while a batch is under way, and how large a batch with an ordering key becomes (docs/findings.md).
//
//     npm install @google-cloud/pubsub@5.3.1 && node pubsub_flush.mjs
import { PubSub } from '@google-cloud/pubsub';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

for (const orderingKey of [undefined, 'key']) {
  const batching = { maxMessages: 4, maxMilliseconds: 100 };
  const topic = new PubSub({ projectId: 'none' }).topic('t', { batching, messageOrdering: orderingKey !== undefined });
  let running = 0;
  let published = 0;
  topic.request = async ({ reqOpts: { messages } }, callback) => { // the call to the server takes 300 ms
    console.log(`  a batch of ${messages.length}${running++ ? ', while another one is under way' : ''}`);
    await sleep(300);
    running--;
    callback(null, { messageIds: messages.map(() => 'id') });
  };
  const publish = (count) =>
    Promise.all(Array.from({ length: count }, () => topic.publishMessage({ data: Buffer.from('x'), orderingKey }).then(() => published++)));

  console.log(`ordering key: ${orderingKey}`);
  const four = publish(4); // a full batch, which leaves at once
  await sleep(10);
  await topic.flush();
  console.log(`  flush has ended, and ${published} of 4 messages are published`);
  await four;
  const five = publish(5);
  await sleep(10);
  await topic.flush();
  await five;
  await publish(16);
}
