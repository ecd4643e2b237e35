"""Engines with continuous batching that the rules were not written for, right and wrong ones."""
