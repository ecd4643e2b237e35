"""The tests of `batchproof lint`."""
