"""The linter against a server: configurations of our own making, and what a Triton was seen to do with them."""
