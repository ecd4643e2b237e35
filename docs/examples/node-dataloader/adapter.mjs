// Lets Batchproof judge DataLoader: its messages come in on standard input, and answers go out on standard output.
import DataLoader from 'dataloader';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync(require.resolve('dataloader/package.json')));

const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');
const now = () => process.hrtime.bigint(); // CLOCK_MONOTONIC, in nanoseconds
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

// ------------------------------------------------------------------------------------------------------- the witness

const gates = new Map(); // token -> { opened, open }
const gate = (token) => {
  if (!gates.has(token)) {
    let open;
    gates.set(token, { opened: new Promise((resolve) => (open = resolve)), open: () => open() });
  }
  return gates.get(token);
};

let lines = []; // of the log, not yet read
let queued = 0; // accepted, and not yet in the model
const batches = []; // of each instance, so far
const busy = new Set(); // instances

// The batch function. DataLoader starts a batch whatever other batches do, so an instance is found for each.
async function execute(requests) {
  let instance = 0;
  while (busy.has(instance)) instance++;
  busy.add(instance);
  batches[instance] = (batches[instance] ?? 0) + 1;
  try {
    return await witness(requests, { instance, batch: batches[instance] });
  } finally {
    busy.delete(instance);
  }
}

async function witness(requests, here) {
  const enter = now();
  queued -= requests.length;
  const asks = requests.map((request) => request.ask);
  const rows = asks.reduce((sum, ask) => sum + ask.rows, 0);
  lines.push({ ...here, enter_ns: `${enter}`, serials: asks.map((ask) => ask.serial), rows: asks.map((ask) => ask.rows) });
  const holds = asks.map((ask) => ask.hold).filter((token) => token !== 0);
  await Promise.all(holds.map((token) => gate(token).opened));
  const until = (holds.length ? now() : enter) + BigInt(Math.max(...asks.map((ask) => ask.work_ns + ask.row_work_ns * rows)));
  while (now() < until) await sleep(Number((until - now()) / 1_000_000n));
  const exit = now();
  const [fail, short] = ['fail', 'short'].map((name) => asks.some((ask) => ask[name]));
  lines.push({ ...here, exit_ns: `${exit}`, failed: fail || short });
  if (fail) throw new Error('the payload asked this batch to fail');
  const info = { ...here, requests: requests.length, rows, enter_ns: `${enter}`, exit_ns: `${exit}` };
  const answers = requests.map(({ ask, input }, position) => ({ echo: input, info: { ...info, serial: ask.serial, position } }));
  return answers.slice(short ? 1 : 0);
}

// ------------------------------------------------------------------------------------------------------- the adapter

let loader;
const pending = new Set();

const answers = {
  start: () => ({
    name: 'dataloader',
    version,
    claims: {
      delay: true, delay_anchor: 'oldest-enqueue', batches_without_delay: false, late_binding: false, rows: 'requests',
      instances: 'unlimited', defaults: true, counts_results: true,
    },
    verbs: ['release', 'log', 'queued', 'deploy_defaults'],
    monotonic: true,
  }),

  // Without a delay it is DataLoader as it comes: what is loaded in one tick is a batch. With a delay, `batchScheduleFn` is
  // the timer that its documentation shows.
  configure: ({ config }) => {
    if (config.instances > 1) return { unsupported: 'instances' };
    if (config.queue_timeout_ns) return { unsupported: 'queue_timeout' };
    const delay = config.max_queue_delay_ns / 1e6;
    const schedule = delay ? { batchScheduleFn: (dispatch) => setTimeout(dispatch, delay) } : {};
    loader = new DataLoader(execute, { cache: false, maxBatchSize: config.max_batch_size, ...schedule });
    return {};
  },

  deploy_defaults: () => ((loader = new DataLoader(execute)), {}),
  release: ({ token }) => (gate(token).open(), {}),
  queued: () => ({ queued }),
  log: () => {
    const fresh = lines;
    lines = [];
    return { lines: fresh };
  },
};

function infer(message) {
  queued++;
  const answered = loader.load(message).then(
    (answer) => say({ id: message.id, ...answer }),
    (error) => say({ id: message.id, refused: { kind: 'failed', message: error.message } }),
  );
  pending.add(answered);
  answered.finally(() => pending.delete(answered));
}

async function stop({ id }) {
  await Promise.all(pending);
  say({ id });
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.do === 'infer') infer(message);
  else if (message.do === 'stop') stop(message);
  else say({ id: message.id, ...(answers[message.do]?.(message) ?? { error: `${message.do}: unknown message` }) });
}
