"""The host of transformers with faults that are put on purpose into the engine's tables. This file travels.

A request whose name is a fault's is not sent to the engine: that fault happens once, as soon as the requests `a` and `b`
have each made a token.
"""

from __future__ import annotations

from typing import Any

from engine_host import serve
from transformers_host import TransformersHost

A, B = "a", "b"


class Faulty(TransformersHost):
    """The same engine, in which one thing goes wrong once."""

    def start(self, config: dict[str, Any]) -> None:
        """Open an engine without a fault."""
        super().start(config)
        self.fault: Any = None
        self.cache = self.manager.batch_processor.cache.cache_allocators["full_attention"]

    def submit(self, request: dict[str, Any]) -> None:
        """Send a request, or put a fault into the next iteration in which both are running."""
        if fault := getattr(self, request["name"], None):
            self.fault = fault
        else:
            super().submit(request)

    def step(self) -> bool:
        """Run an iteration."""
        active = self.manager.batch_processor.scheduler.active_requests
        patched = vars(self.cache).copy()
        if self.fault and all(name in active and active[name].generated_len() for name in (A, B)):
            self.fault, fault = None, self.fault
            fault(self.cache)
        busy = super().step()
        for name in ("get_write_indices", "get_read_indices"):
            if name not in patched:
                vars(self.cache).pop(name, None)
        return busy

    def swapped_tables(self, cache: Any) -> None:
        """Let each of the two requests have the other's block table."""
        cache.block_table[A], cache.block_table[B] = cache.block_table[B], cache.block_table[A]

    def stale_entry(self, cache: Any) -> None:
        """Write an entry of the first request elsewhere, so that its place keeps what it had."""
        right = cache.get_write_indices
        cache.get_write_indices = lambda name, *more: [cache.write_trash_index] if name == A else right(name, *more)

    def late_slot(self, cache: Any) -> None:
        """Write an entry of the first request one place behind its own."""
        right = cache.get_write_indices
        cache.get_write_indices = lambda name, *more: [place + (name == A) for place in right(name, *more)]

    def swapped_rows(self, cache: Any) -> None:
        """Read each of the two rows of an iteration for the other."""
        right = cache.get_read_indices
        other = {A: B, B: A}
        cache.get_read_indices = lambda name, *more: right(other[name], *more)

    def foreign_block(self, cache: Any) -> None:
        """Put the second request's first block into the first one's table."""
        cache.block_table[A][0] = cache.block_table[B][0]


if __name__ == "__main__":
    serve(Faulty())
