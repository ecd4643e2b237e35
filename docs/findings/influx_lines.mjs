// Shows which lines the WriteApi of @influxdata/influxdb-client writes late, or never (docs/findings.md).
//
//     npm install @influxdata/influxdb-client@1.35.0 && node influx_lines.mjs
import { createServer } from 'node:http';
import { InfluxDB } from '@influxdata/influxdb-client';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
let written = 0;
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  written += body.split('\n').length;
  await sleep(300); // a database that takes 300 ms
  response.writeHead(204).end();
}).listen(0, '127.0.0.1');
await new Promise((ready) => server.once('listening', ready));
const influx = new InfluxDB({ url: `http://127.0.0.1:${server.address().port}`, token: 'token' });

let writer = influx.getWriteApi('org', 'bucket', 'ns', { flushInterval: 200, maxBatchBytes: 100 });
for (let i = 0; i < 3; i++) writer.writeRecord(`m value=${'1'.repeat(40)}`); // two of them fit into 100 bytes
await sleep(3000);
console.log(`${written} of 3 lines were written within 3 s, with a flushInterval of 0.2 s`);

written = 0;
writer = influx.getWriteApi('org', 'bucket', 'ns', { flushInterval: 100 });
writer.writeRecord('m value=1');
const closed = writer.close();
await sleep(250);
writer.writeRecord('m value=2'); // no error: it is not closed yet
await closed;
await sleep(1000);
console.log(`${written} of 2 lines were written, one of them while close() waited`);
process.exit();
