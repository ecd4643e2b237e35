"""`batchproof tune` for engines: the sequence limit and token budget that serve the most requests within the objective."""
