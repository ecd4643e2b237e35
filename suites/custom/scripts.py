"""What the rules about custom batching deploy and send."""

from batchproof.fixtures.driving.script import Script, Send, gated
from batchproof.reference_batcher import BatcherConfig

LIMITED = BatcherConfig(max_batch_size=8, strategy="volume:96")
MIB = 1 << 20  # beyond what a short number holds
LARGE = BatcherConfig(max_batch_size=8, strategy=f"volume:{96 * MIB}")
FIRST = BatcherConfig(max_batch_size=8, strategy="first")
ALONE = BatcherConfig(max_batch_size=8, strategy="alone")


def backlog(*volumes: int) -> Script:
    """Return requests r* of these volumes, queued one by one behind a plug."""
    return gated(*(Send(f"r{number}", volume=volume) for number, volume in enumerate(volumes)))
