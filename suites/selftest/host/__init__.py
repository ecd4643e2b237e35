"""Tests of `host/`."""
