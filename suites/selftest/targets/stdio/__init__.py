"""Tests of the target `stdio`."""
