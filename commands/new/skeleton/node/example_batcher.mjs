// A batcher as many people write it: it takes a request, waits for others, and awaits the model.

export class Batcher {
  // model: takes an array of items, and resolves to as many outputs.
  constructor(model, maxBatchSize, maxDelayMs) {
    Object.assign(this, { model, maxBatchSize, maxDelayMs });
    this.queue = [];
    this.busy = false;
    this.filled = null; // ends the wait for others
  }

  // Queue one item; resolves to its output.
  submit(item) {
    return new Promise((resolve, reject) => {
      this.queue.push({ item, resolve, reject });
      if (this.queue.length >= this.maxBatchSize) this.filled?.();
      if (!this.busy) this.run();
    });
  }

  async run() {
    this.busy = true;
    while (this.queue.length) {
      if (this.maxDelayMs && this.queue.length < this.maxBatchSize) await this.others();
      await this.execute(this.queue.splice(0, this.maxBatchSize));
    }
    this.busy = false;
  }

  others() {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.maxDelayMs);
      this.filled = () => (clearTimeout(timer), resolve());
    });
  }

  async execute(batch) {
    try {
      const outputs = await this.model(batch.map(({ item }) => item));
      if (outputs.length !== batch.length) throw new Error(`${outputs.length} outputs for ${batch.length} items`);
      batch.forEach(({ resolve }, place) => resolve(outputs[place]));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
