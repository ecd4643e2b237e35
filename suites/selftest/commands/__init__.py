"""Tests of `commands/`."""
