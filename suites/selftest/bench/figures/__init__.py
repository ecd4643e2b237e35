"""Tests of `bench/figures/`."""
