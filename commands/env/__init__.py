"""`batchproof env`: environments of stacks, one module for each verb, and what runs pip."""
