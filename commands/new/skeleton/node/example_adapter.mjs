// An adapter: lets Batchproof judge the batcher of `example_batcher.mjs`.
import { Batcher } from './example_batcher.mjs';
import { serve, Unsupported, witness } from './example_witness.mjs';

serve({
  name: 'example',
  version: '1.0',
  claims: { delay: true, delay_anchor: 'first-dequeue' },

  // Start the batcher with the witness as its model, and with this configuration.
  deploy(config) {
    if (config.instances > 1) throw new Unsupported('instances');
    if (config.queue_timeout_ns) throw new Unsupported('queue_timeout');
    const batcher = new Batcher(witness, config.max_batch_size, config.max_queue_delay_ns / 1e6);
    return {
      // Hand the request over as one item; resolves to what the witness answered. Called in the order of arrival.
      submit: (request) => batcher.submit(request),

      // Which kind of error this is. This batcher refuses nothing: its errors are the model's.
      kind: () => 'failed',

      // With the claim `close`: close the batcher. With `cancel`: take this request back.
      // close: () => batcher.close(),
      // cancel: (request) => batcher.cancel(request),
    };
  },

  // With the claim `defaults`: the same with nothing set but what the batcher requires.
  // deployDefaults() { ... },
});
