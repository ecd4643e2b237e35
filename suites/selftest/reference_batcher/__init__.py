"""Tests of `reference_batcher/`."""
