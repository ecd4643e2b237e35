"""Tests of `bench/peers/`."""
