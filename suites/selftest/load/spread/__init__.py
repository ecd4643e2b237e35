"""Tests of the open loop over several workers."""
