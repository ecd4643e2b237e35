"""What the reference batcher's core decides, with time as an argument. No suite, no model, no thread, no clock."""

from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Dispatch, Entry, Reject, Wait

MS = 1_000_000


def core(*arrivals, rows=1, **config):
    """A batcher with these arrivals, in ms."""
    batcher = DynamicBatcher(BatcherConfig(max_batch_size=4, **config))
    for name, at in enumerate(arrivals):
        assert batcher.enqueue(Entry(rows, at * MS, name)) is None
    return batcher


def say(what, batcher, at):
    match batcher.poll(at * MS):
        case Dispatch(instance, batch):
            print(f"{what}: at {at} ms, {[entry.item for entry in batch]} leave on instance {instance}")
        case Reject(entries):
            print(f"{what}: at {at} ms, {[entry.item for entry in entries]} are refused")
        case Wait(until_ns):
            print(f"{what}: at {at} ms, wait until {'something happens' if until_ns is None else f'{until_ns // MS} ms'}")


say("six wait, no delay", backlog := core(*[0] * 6), 0)
say("the instance is busy", backlog, 1)
backlog.finished(0)
say("the instance is free", backlog, 2)
say("one alone, delay 100", core(0, max_queue_delay_ns=100 * MS), 99)
say("one alone, delay 100", core(0, max_queue_delay_ns=100 * MS), 100)
say("a newcomer at 90", core(0, 90, max_queue_delay_ns=100 * MS), 100)
say("four rows, delay 1 h", core(0, 0, 0, 0, max_queue_delay_ns=3_600_000 * MS), 0)
say("two of three rows", core(0, 0, rows=3), 0)
say("timeout 50, delay 100", core(0, max_queue_delay_ns=100 * MS, queue_timeout_ns=50 * MS), 51)
print("five rows:", core().enqueue(Entry(5, 0, "big")))
print("queue limit 1:", core(0, max_queue_size=1).enqueue(Entry(1, 0, "second")))
