"""Deployment: what surrounds a batcher in a serving configuration. Tests drive the models of a repository."""
