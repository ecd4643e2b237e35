// Shows that a batch with one answer without an id gives a request the answer of another one (docs/findings.md).
//
//     npm install viem@2.57.20 && node viem_null_id.mjs
//
// JSON-RPC 2.0: "If there was an error in detecting the id in the Request object (e.g. Parse error/Invalid Request), it MUST be
// Null." The server here finds the third of four requests invalid.
import { createClient, http } from 'viem';

async function fetchFn(url, { body }) {
  const invalid = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } };
  const answers = JSON.parse(body).map(({ id, params }, place) => (place === 2 ? invalid : { jsonrpc: '2.0', id, result: params[0] }));
  return new Response(JSON.stringify(answers), { headers: { 'content-type': 'application/json' } });
}

const transport = http('http://127.0.0.1:1', { batch: { wait: 10 }, retryCount: 0, fetchFn });
const client = createClient({ transport });
const sent = ['first', 'second', 'third', 'fourth'];
const seen = await Promise.allSettled(sent.map((name) => client.request({ method: 'echo', params: [name] })));
seen.forEach(({ value, reason }, place) => console.log(`${sent[place]}: ${value ?? reason.name}`));
