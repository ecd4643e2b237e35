"""The suite under test: needs no server."""
