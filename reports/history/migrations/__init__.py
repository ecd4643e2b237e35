"""Alembic's migrations of a history, one revision a file, which `schema.py` runs."""
