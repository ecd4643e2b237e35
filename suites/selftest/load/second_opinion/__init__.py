"""Tests of `load/second_opinion/`."""
