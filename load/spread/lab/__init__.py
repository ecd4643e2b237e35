"""Load from several machines, compared with the same load from one: `batchproof lab spread`."""
