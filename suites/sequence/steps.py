"""Scripts of sequences. The requests of sequence 7 are called `s7.0`, `s7.1` and so on.

Requests that are sent one right after another may arrive in another order, so the next request of a sequence is sent when
the last one is answered, or seen in the queue. Every sequence has its END, so that a model can be driven again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from batchproof.fixtures.driving.script import HOUR, Answered, Entered, Release, Send, Step, in_line
from batchproof.reference_batcher import BatcherConfig, SequenceBatching
from batchproof.targets.claims import value_of

PLUG = 99  # the correlation ID of what holds an instance
WAITING = (14, 11, 19, 12, 17, 13, 18, 16, 15)  # more than a short line has, and not in the order of their numbers
GROUPED = 12  # sequences of which one surely belongs to another instance than the first, however IDs are spread


def direct(size: int = 4, instances: int = 1, delay_ns: int = 0, **asked: Any) -> BatcherConfig:
    """Return a configuration with the strategy `direct`; no sequence is idle for too long unless `asked` says so."""
    batching = SequenceBatching(**{"max_sequence_idle_ns": HOUR, **asked})
    return BatcherConfig(max_batch_size=size, instances=instances, max_queue_delay_ns=delay_ns, sequence=batching)


def oldest(
    size: int = 4, candidates: int = 3, instances: int = 1, delay_ns: int = 0, preferred: tuple[int, ...] = (), **asked: Any
) -> BatcherConfig:
    """Return a configuration with the strategy `oldest`."""
    asked = {"strategy": "oldest", "max_candidate_sequences": candidates, "max_sequence_idle_ns": HOUR, **asked}
    return BatcherConfig(
        max_batch_size=size, instances=instances, max_queue_delay_ns=delay_ns, preferred_batch_size=preferred,
        sequence=SequenceBatching(**asked),
    )  # fmt: skip


def claimed(claims: Mapping[str, Any], *configs: BatcherConfig) -> tuple[BatcherConfig, ...]:
    """Return the configurations whose strategy the target has; all of them where it has both, or claims no sequences."""
    strategy = value_of(claims, "sequences")
    chosen = tuple(one for one in configs if one.sequence is not None and one.sequence.strategy == strategy)
    return chosen or configs


def roomy(claims: Mapping[str, Any], *configs: BatcherConfig) -> tuple[BatcherConfig, ...]:
    """Return what is claimed, with room in every instance for the sequences of all where a sequence has to take one of them.

    Where each instance has a queue of its own, sequences may all be put into the same one.
    """
    chosen = claimed(claims, *configs)
    return tuple(map(_wide, chosen)) if value_of(claims, "queue") == "each-instance" else chosen


def _wide(config: BatcherConfig) -> BatcherConfig:
    assert config.sequence is not None
    candidates = config.sequence.max_candidate_sequences * config.instances
    sequence = replace(config.sequence, max_candidate_sequences=candidates)
    return replace(config, max_batch_size=config.max_batch_size * config.instances, sequence=sequence)


def step(sequence: int, number: int, *, last: int = -1, **asked: Any) -> Send:
    """Return one request of a sequence. number: its place in it. last: the place of the one with END; -1: none yet."""
    return Send(f"s{sequence}.{number}", **{"sequence": sequence, "start": number == 0, "end": number == last, **asked})


def whole(sequence: int, count: int = 1, **asked: Any) -> tuple[Send, ...]:
    """Return all requests of a sequence."""
    return tuple(step(sequence, number, last=count - 1, **asked) for number in range(count))


def turn(ids: Iterable[int], number: int, *, last: int = -1, **asked: Any) -> tuple[Step, ...]:
    """Send the request with this number of several sequences, and wait for the answers."""
    sends = [step(one, number, last=last, **asked) for one in ids]
    return (*sends, Answered(tuple(send.name for send in sends)))


def turns(ids: Iterable[int], count: int, **asked: Any) -> tuple[Step, ...]:
    """Send whole sequences in turn: the first request of each, then the second, and so on."""
    ids = tuple(ids)
    return tuple(one for number in range(count) for one in turn(ids, number, last=count - 1, **asked))


def groups(claims: Mapping[str, Any], ids: Sequence[int], count: int) -> tuple[Step, ...]:
    """Send whole sequences in turn, for a rule that is about several instances.

    Where each instance has a queue of its own, the instance of a sequence may follow from its ID. So that not all belong to
    one instance, other sequences come after these, group by group.
    """
    several = GROUPED // len(ids) if value_of(claims, "queue") == "each-instance" else 1
    return tuple(one for number in range(several) for one in turns([id_ + number * len(ids) for id_ in ids], count))


def plug(**asked: Any) -> tuple[Step, ...]:
    """Hold an instance with a sequence of one request, which has given up its slot by then (`direct`)."""
    return (Send("plug", hold="gate", **{"sequence": PLUG, "start": True, "end": True, **asked}), Entered("plug"))


def behind_plug(*sends: Send, **asked: Any) -> tuple[Step, ...]:
    """Queue these one by one behind a plug, then let it go and wait for all answers."""
    names = tuple(send.name for send in sends)
    return (*plug(**asked), *in_line(*sends), Release("gate"), Answered(("plug", *names)))
