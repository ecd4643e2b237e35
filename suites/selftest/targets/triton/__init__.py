"""Tests of `targets/triton/`."""
