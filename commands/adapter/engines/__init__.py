"""`batchproof adapter check` for engines with continuous batching.

`trials.py` drives an engine and records what its verbs return; `findings.py` turns that into findings, and is pure.
`check.py` has the order.
"""
