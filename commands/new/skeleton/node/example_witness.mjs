// The witness, and the messages of Batchproof (docs/stdio.md). Nothing in here is about a certain batcher: leave it as it is.
import { createInterface } from 'node:readline';

const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');
const now = () => process.hrtime.bigint(); // CLOCK_MONOTONIC, in nanoseconds
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

const gates = new Map(); // token -> { opened, open }
const waiting = new Set(); // requests that are accepted, and not yet in the model
const batches = []; // of each instance, so far
const busy = new Set(); // instances
let lines = []; // of the log, not yet read

function gate(token) {
  if (!gates.has(token)) {
    let open;
    gates.set(token, { opened: new Promise((resolve) => (open = resolve)), open: () => open() });
  }
  return gates.get(token);
}

// The model. requests: what `submit` was given, in the order of the batch. Resolves to their answers, or rejects.
export async function witness(requests) {
  const enter = now();
  let instance = 0;
  while (busy.has(instance)) instance++;
  busy.add(instance);
  batches[instance] = (batches[instance] ?? 0) + 1;
  const here = { instance, batch: batches[instance] };
  for (const request of requests) waiting.delete(request);
  const asks = requests.map(({ ask }) => ask);
  const rows = asks.reduce((sum, ask) => sum + ask.rows, 0);
  lines.push({ ...here, enter_ns: `${enter}`, serials: asks.map((ask) => ask.serial), rows: asks.map((ask) => ask.rows) });
  const holds = asks.map((ask) => ask.hold).filter((token) => token !== 0);
  await Promise.all(holds.map((token) => gate(token).opened));
  const work = Math.max(0, ...asks.map((ask) => ask.work_ns + ask.row_work_ns * rows));
  const until = (holds.length ? now() : enter) + BigInt(work);
  while (now() < until) await sleep(Number((until - now()) / 1_000_000n));
  const exit = now();
  const [fail, short] = ['fail', 'short'].map((name) => asks.some((ask) => ask[name]));
  lines.push({ ...here, exit_ns: `${exit}`, failed: fail || short });
  busy.delete(instance);
  if (fail) throw new Error('the payload asked this batch to fail');
  const info = { ...here, requests: requests.length, rows, enter_ns: `${enter}`, exit_ns: `${exit}` };
  const answers = requests.map(({ ask, input }, position) => ({ echo: input, info: { ...info, serial: ask.serial, position } }));
  return answers.slice(short ? 1 : 0);
}

// What `deploy` throws if the batcher cannot be configured as asked: the name of the claim that it lacks.
export class Unsupported extends Error {}

// Answer Batchproof's messages with this adapter, until standard input ends.
export function serve(adapter) {
  const { name, version, claims } = adapter;
  const asked = new Map(); // the id of a message -> the request, until it is answered
  const under_way = new Set(); // promises of answers
  let deployed;

  async function deploy(make) {
    try {
      deployed = await make();
      return {};
    } catch (error) {
      if (error instanceof Unsupported) return { unsupported: error.message };
      return { error: `${error.stack}` };
    }
  }

  async function infer({ id, ask, input }) {
    const request = { id, ask, input };
    waiting.add(request);
    asked.set(id, request);
    try {
      say({ id, ...(await deployed.submit(request)) });
    } catch (error) {
      waiting.delete(request);
      say({ id, refused: { kind: deployed.kind(error), message: `${error?.message ?? error}` } });
    }
    asked.delete(id);
  }

  async function stop({ id }) {
    await (deployed.close ? deployed.close() : Promise.all(under_way));
    say({ id });
  }

  const optional = [['cancel', claims.cancel], ['deploy_defaults', claims.defaults]];
  const verbs = ['release', 'log', 'queued', ...optional.filter(([, claimed]) => claimed).map(([verb]) => verb)];
  const answers = {
    start: () => ({ name, version, claims, verbs, monotonic: true }),
    configure: ({ config }) => deploy(() => adapter.deploy(config)),
    deploy_defaults: () => deploy(() => adapter.deployDefaults()),
    release: ({ token }) => (gate(token).open(), {}),
    log: () => ({ lines: lines.splice(0) }),
    queued: () => ({ queued: waiting.size }),
    cancel: ({ request }) => (asked.has(request) && deployed.cancel(asked.get(request)), {}),
  };

  // All lines that arrive together are taken in one tick, so that a loader sees their requests together.
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const message = JSON.parse(line);
    if (message.do === 'infer') {
      const answered = infer(message);
      under_way.add(answered);
      answered.finally(() => under_way.delete(answered));
    } else if (message.do === 'stop') stop(message);
    else say({ id: message.id, ...((await answers[message.do]?.(message)) ?? { error: `${message.do}: unknown message` }) });
  });
}
