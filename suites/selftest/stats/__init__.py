"""Tests of `stats/`."""
