"""Tests of `bench/ab/`."""
