"""The suites: what is driven and judged. Nothing imports this package but pytest."""
