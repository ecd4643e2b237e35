"""Tests of `batchproof env`."""
