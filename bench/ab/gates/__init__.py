"""How often the gate is wrong, and how long it takes: `batchproof lab gates` repeats decisions whose answer is known."""
