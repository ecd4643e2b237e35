"""The tests of `batchproof hunt`."""
