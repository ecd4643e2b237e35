"""Tests of `targets/`."""
