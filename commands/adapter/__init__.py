"""`batchproof adapter check`: whether an adapter does what the rules rely on, before any rule is judged.

`experiments.py` tries things on deployments and writes down facts. `answers`, `backlog`, `timing`, `parallel` and `ending`
are pure: they turn facts into findings. `claims.py` turns the same facts into claims. `check.py` has the order, and prints.
"""
