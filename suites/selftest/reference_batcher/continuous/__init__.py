"""Tests of `reference_batcher/continuous/`."""
