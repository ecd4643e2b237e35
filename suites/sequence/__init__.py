"""Sequences: requests with a correlation ID, whose state stays in one instance. One file for each area."""
