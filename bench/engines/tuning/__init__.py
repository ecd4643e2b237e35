"""`batchproof tune` for engines: the sequence limit and the token budget that serve most requests within the objective."""
