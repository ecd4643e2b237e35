"""Adapters for serving stacks. Each runs its server's half in an interpreter of the stack's own: docs/stacks/."""
