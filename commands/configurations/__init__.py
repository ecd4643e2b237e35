"""`batchproof lab configurations`: whether the linter says what the server says.

A folder of configurations, or seeded mutants of them, is judged by both. What the server does with each is taken from an
embedded Triton; the table counts how often the linter agrees, and every disagreement is printed.
"""
