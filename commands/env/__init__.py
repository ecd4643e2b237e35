"""`batchproof env`: environments of stacks: making and showing them, and running pip."""
