"""Tests of `bench/measurements/`."""
