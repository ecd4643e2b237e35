"""Tests of `bench/ab/gates/`."""
