"""A request that cannot be served, for the verb `submit_malformed`."""

from __future__ import annotations

from batchproof.targets.protocol import Request
from batchproof.targets.witness.probe import Ints


class Malformed(Request):
    """A request whose tensor has too few columns for the witness."""

    def tensor(self) -> Ints:
        """Return a row of two columns."""
        return super().tensor()[:, :2].copy()


def malformed() -> Request:
    """Return a request that a stack refuses if it compares a tensor's shape with what the model takes."""
    return Malformed("malformed", 0)
