"""Measurements of engines with continuous batching: `batchproof bench` for a target of that discipline."""
