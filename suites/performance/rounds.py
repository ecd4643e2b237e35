"""The load that five rules judge: one client, lone full batches, and twice as many clients as fit into a batch, in turn."""

from collections.abc import Iterator

from batchproof.fixtures.evidence.trial import Slice
from batchproof.fixtures.loads import MS, Loads, Part, every
from batchproof.reference_batcher import BatcherConfig

CONFIG = BatcherConfig(max_batch_size=8)
SINGLE = BatcherConfig(max_batch_size=1)
CLIENTS = 16  # twice a batch: one half waits while the other is served, so every batch is full
LONE_NS = 25 * MS  # from one lone request to the next: everything after a batch has ended by then


def rounds(loads: Loads) -> Iterator[Slice]:
    """Run the rounds and yield their slices."""
    model = loads.model(CONFIG)
    loads.closed("warm-up", model, CLIENTS, 2 * CLIENTS)

    def one() -> Iterator[Slice]:
        yield loads.closed("naive", model, 1, 10)
        if loads.rows:
            yield from loads.open(Part("full", model, every(LONE_NS, 7), rows=CONFIG.max_batch_size))
        yield loads.closed("batched", model, CLIENTS, 10 * CLIENTS)

    yield from loads.rounds(one, 6, 9)
