"""Tests of `targets/docker/`."""
