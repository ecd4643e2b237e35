// Shows that a batch function that rejects ends the process, and answers none of its callers (docs/findings.md).
//
//     npm install @feathers-plus/batch-loader@0.3.6 && node batch_loader_rejects.mjs
import BatchLoader from '@feathers-plus/batch-loader';

const loader = new BatchLoader(async () => {
  throw new Error('the database is away');
});

process.on('unhandledRejection', ({ message }) => {
  console.log(`nobody handles "${message}": without this handler, Node would end here`);
});
const caller = loader.load(1).then(() => 'is answered', () => 'is refused');
console.log(`the caller ${await Promise.race([caller, new Promise((wait) => setTimeout(wait, 1000, 'waits for ever'))])}`);
