"""The tests of the adapter kit."""
