"""`batchproof tune` for engines, under test."""
