"""Tests of `commands/history/`."""
