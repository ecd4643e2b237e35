// A batcher for Node, judged over standard input and output. One queue; one timer, for the oldest request; a fixed number of
// instances. FAULT in the environment names what is wrong with it.
import { createInterface } from 'node:readline';

const fault = process.env.FAULT ?? '';
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');
const now = () => process.hrtime.bigint();
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

// ------------------------------------------------------------------------------------------------------- the batcher

class Flush {
  constructor(model, { batch, delay, instances, timeout, limit }) {
    Object.assign(this, { model, batch, delay, timeout, limit });
    this.free = Array.from({ length: instances }, (_, number) => number);
    this.running = 0;
    this.instances = instances;
    this.queue = [];
    this.timer = null;
    this.closed = false;
  }

  submit(item) {
    if (this.closed) throw { kind: 'closed', message: 'closed' };
    if (item.rows > this.batch) throw { kind: 'invalid', message: `${item.rows} rows; a batch has at most ${this.batch}` };
    if (this.limit && this.queue.length >= this.limit) throw { kind: 'full', message: `${this.limit} requests wait already` };
    const answer = new Promise((resolve, reject) => Object.assign(item, { resolve, reject }));
    item.since = performance.now();
    item.alarm = this.timeout ? setTimeout(() => this.remove(item, { kind: 'expired', message: 'its timeout is over' }), this.timeout) : null;
    this.queue.push(item);
    this.look();
    return answer;
  }

  remove(item, why) {
    const place = this.queue.indexOf(item);
    if (place < 0) return;
    this.queue.splice(place, 1);
    clearTimeout(item.alarm);
    item.reject(why);
    this.look();
  }

  // How many requests at the head share a batch, and whether they fill it.
  head() {
    let count = 0, rows = 0;
    for (const item of this.queue) {
      if (rows + item.rows > this.batch) return [count, true];
      rows += item.rows;
      count++;
    }
    return [count, rows === this.batch];
  }

  look() {
    while (this.queue.length && this.running < this.instances) {
      const [count, full] = this.head();
      const left = this.queue[0].since + this.delay - performance.now();
      if (!full && left > 0 && !this.closed) {
        this.arm(left);
        return;
      }
      this.start(this.queue.splice(0, count));
    }
    if (!this.queue.length && fault !== 'stale-timer') {
      clearTimeout(this.timer);
      this.timer = null;
    }
  }

  arm(left) {
    if (fault === 'stale-timer') {
      // The timer that runs already is not stopped, and sends whatever it finds.
      this.timer ??= setTimeout(() => {
        this.timer = null;
        if (this.queue.length && this.running < this.instances) this.start(this.queue.splice(0, this.head()[0]));
        this.look();
      }, Math.ceil(left));
      return;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), Math.ceil(left));
  }

  async start(items) {
    this.running++;
    const instance = this.free.shift() ?? this.instances;
    for (const item of items) clearTimeout(item.alarm);
    try {
      const answers = await this.model(items, instance);
      if (answers.length !== items.length && fault !== 'uncounted') {
        throw new Error(`${answers.length} answers to ${items.length} requests`);
      }
      answers.forEach((answer, place) => items[place].resolve(answer));
    } catch (error) {
      if (fault === 'freed-twice') this.running--;
      for (const item of items) item.reject({ kind: 'failed', message: error.message });
    }
    this.free.push(instance);
    this.running--;
    this.look();
  }

  async close() {
    this.closed = true;
    this.look();
    while (this.running > 0 || this.queue.length) await sleep(1);
  }
}

// ------------------------------------------------------------------------------------------------------- the witness

const gates = new Map(); // token -> { opened, open }
const gate = (token) => {
  if (!gates.has(token)) {
    let open;
    gates.set(token, { opened: new Promise((resolve) => (open = resolve)), open: () => open() });
  }
  return gates.get(token);
};
let lines = [];
const batches = [];

async function witness(items, instance) {
  const enter = now();
  batches[instance] = (batches[instance] ?? 0) + 1;
  const here = { instance, batch: batches[instance] };
  const asks = items.map((item) => item.ask);
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
  const info = { ...here, requests: items.length, rows, enter_ns: `${enter}`, exit_ns: `${exit}` };
  const answers = items.map(({ ask, input }, position) => ({ echo: input, info: { ...info, serial: ask.serial, position } }));
  return answers.slice(short ? 1 : 0);
}

// ------------------------------------------------------------------------------------------------------- the adapter

let batcher;
const asked = new Map(); // id of a request that has no answer yet -> item

const answers = {
  start: () => ({
    name: 'flush',
    version: '1.0',
    claims: {
      delay: true, delay_anchor: 'oldest-enqueue', rows: true, instances: true, cancel: true, queue_timeout: true,
      max_queue_size: true, close: true, closing: 'answers', counts_results: true,
    },
    verbs: ['release', 'log', 'queued', 'cancel'],
    monotonic: true,
  }),
  configure: ({ config }) => {
    batcher = new Flush(witness, {
      batch: config.max_batch_size, delay: config.max_queue_delay_ns / 1e6, instances: config.instances,
      timeout: config.queue_timeout_ns / 1e6, limit: config.max_queue_size ?? 0,
    });
    return {};
  },
  release: ({ token }) => (gate(token).open(), {}),
  queued: () => ({ queued: batcher.queue.length }),
  log: () => {
    const fresh = lines;
    lines = [];
    return { lines: fresh };
  },
  cancel: ({ request }) => {
    const item = asked.get(request);
    if (item) batcher.remove(item, { kind: 'cancelled', message: 'cancelled' });
    return {};
  },
};

async function infer({ id, ask, input }) {
  const item = { ask, input, rows: ask.rows };
  asked.set(id, item);
  try {
    say({ id, ...(await batcher.submit(item)) });
  } catch (refused) {
    say({ id, refused });
  }
  asked.delete(id);
}

async function stop({ id }) {
  await batcher.close();
  while (asked.size) await sleep(1);
  say({ id });
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.do === 'infer') infer(message);
  else if (message.do === 'stop') stop(message);
  else say({ id: message.id, ...(answers[message.do]?.(message) ?? { error: `${message.do}: unknown message` }) });
}
