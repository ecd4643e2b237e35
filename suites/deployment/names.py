"""Names of requests: r0, r1, ..."""

from __future__ import annotations


def many(prefix: str, count: int) -> tuple[str, ...]:
    """Return names of requests."""
    return tuple(f"{prefix}{i}" for i in range(count))
