"""The tests of `batchproof adapter check`."""
