"""Batchproof: the conformance and regression suite for inference batchers."""

__version__ = "2026.11.0"
