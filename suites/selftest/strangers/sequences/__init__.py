"""Batchers of sequences that the rules were not written for, right and wrong ones."""
