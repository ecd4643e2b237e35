"""Triton in three forms: from a Python wheel, in a container, or already running."""
