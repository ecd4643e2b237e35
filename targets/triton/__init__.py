"""Triton: the wheel's, one in a container, one that runs already."""
