"""The tests of `batchproof explain`."""
