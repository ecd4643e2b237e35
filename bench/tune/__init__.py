"""Finds the configuration with the most throughput under an objective."""
