"""`batchproof lint`: the rules about config.pbtxt, on files; no server."""
