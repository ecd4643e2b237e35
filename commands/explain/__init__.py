"""`batchproof explain`: what Triton will do with a configuration, in plain words; no server."""
