// Shows that `forceFlush` and `shutdown` export batches at once, and that `shutdown` does not wait for an export that is
// under way (docs/findings.md).
//
//     npm install @opentelemetry/sdk-trace-base@2.12.1 && node otel_js_flush.mjs
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

const span = { spanContext: () => ({ traceFlags: 1 }), resource: {} };
let exporting = 0;
let most = 0;

const exporter = {
  export(spans, done) {
    exporting++;
    most = Math.max(most, exporting);
    setTimeout(() => {
      exporting--;
      done({ code: 0 });
    }, 200);
  },
  async forceFlush() {},
  async shutdown() {
    console.log(`the exporter is shut down, and ${exporting} of its exports are under way`);
  },
};

const processor = new BatchSpanProcessor(exporter, { maxExportBatchSize: 10, maxQueueSize: 1000, scheduledDelayMillis: 60000 });
for (let number = 0; number < 100; number++) processor.onEnd(span);
await processor.forceFlush();
console.log(`${most} exports ran at once in forceFlush`);
for (let number = 0; number < 10; number++) processor.onEnd(span); // a full batch, which leaves at once
await new Promise((wake) => setTimeout(wake, 50));
await processor.shutdown();
