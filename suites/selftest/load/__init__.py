"""Tests of `load/`."""
