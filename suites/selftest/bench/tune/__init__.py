"""Tests of `bench/tune/`."""
