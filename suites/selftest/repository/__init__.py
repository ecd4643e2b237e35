"""A stand-in for a server with a model repository, made of reference batchers, and its mutants."""
