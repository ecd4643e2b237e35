"""Measurements of engines with continuous batching: what `batchproof bench` does with a target of that discipline."""
