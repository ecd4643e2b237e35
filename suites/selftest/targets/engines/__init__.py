"""Tests of `targets/engines/`."""
