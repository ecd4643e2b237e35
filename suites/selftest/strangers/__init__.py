"""Batchers that Batchproof has never seen: five styles, each right, and each with faults from the trackers of real projects.

`batchproof check --target batchproof.suites.selftest.strangers.adapter:lost-wakeup` judges one; `table.py` lists them.
"""
