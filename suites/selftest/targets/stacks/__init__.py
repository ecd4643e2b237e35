"""Tests of the adapters for serving stacks, without their servers where that is possible."""
