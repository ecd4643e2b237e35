"""Tests of `load/spread/lab/`."""
