"""Tests of `bench/oracle/`."""
