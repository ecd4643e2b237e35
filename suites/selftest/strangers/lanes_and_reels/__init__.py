"""A second series of engines that the rules were not written for: each with an adapter as its author would write it."""
