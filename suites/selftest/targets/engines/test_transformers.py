"""The adapter of transformers: the witness in its KV cache, faults in its tables, and how it is configured."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets import TargetError, Unsupported, resolve
from batchproof.targets.engines import Generation
from batchproof.targets.engines.process import HostedTarget
from batchproof.targets.engines.transformers import CLAIMS, TransformersTarget
from batchproof.targets.protocol import Misuse
from batchproof.targets.witness import language

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON = os.environ.get("BATCHPROOF_TRANSFORMERS_PYTHON", "")
WHY = "needs an engine: transformers is not installed: install the extra, or set BATCHPROOF_TRANSFORMERS_PYTHON"
ENGINE = pytest.mark.skipif(not PYTHON and find_spec("transformers") is None, reason=WHY)
FAULTS = ("swapped_tables", "stale_entry", "late_slot", "swapped_rows", "foreign_block")


class Faulty(TransformersTarget):
    """The same target, whose host can put faults into the engine's tables."""

    program = str(Path(__file__).with_name("transformers_faults.py"))
    beside = ("transformers_host.py", "transformers_stubs.py", "transformers_witness.py")


@pytest.fixture(scope="module")
def target() -> Iterator[HostedTarget]:
    """One process for the tests of this module."""
    found = Faulty(PYTHON)
    yield found
    found.close()


def driven(
    target: HostedTarget, config: EngineConfig, *requests: Generation, first: str = ""
) -> tuple[dict[tuple[str, int], tuple[int, ...]], list[tuple[str, int, str]], list[list[list[object]]]]:
    """Return texts by name and sample, ends in their order, and the rows of each iteration."""
    engine = target.engine(config)
    if first:
        engine.submit(Generation(first, 0, (), 0))
    for one in requests:
        engine.submit(one)
    texts: dict[tuple[str, int], tuple[int, ...]] = {}
    ends = []
    busy = True
    while busy:
        outputs, busy = engine.step()
        for one in outputs:
            texts[one.name, one.sample] = texts.get((one.name, one.sample), ()) + one.tokens
            ends += [(one.name, one.sample, one.end)] if one.end else []
    rows = [line["rows"] for line in engine.log()]
    used = engine.gauges()["used_blocks"]
    engine.close()
    assert used == 0
    return texts, ends, rows


@cache
def generation(serial: int, length: int, count: int, *, shared: int = 0, samples: int = 1) -> Generation:
    """Return a request of the name a, b, c and so on."""
    prompt = language.prompt(serial, length, shared)
    return Generation("abcdefgh"[serial - 1], serial, prompt, count, samples=samples)


def expected(*requests: Generation) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return the texts that these requests must get."""
    return {
        (one.name, sample): language.continuation(one.prompt, one.max_tokens)
        for one in requests
        for sample in range(one.samples)
    }


PAIR = (generation(1, 13, 6), generation(2, 12, 6))
SMALL = EngineConfig(block_size=4, num_blocks=16)


@ENGINE
def test_texts_are_right_and_nothing_is_torn(target: HostedTarget) -> None:
    """Without a fault, every text is the computed one, and every entry is in its place."""
    requests = [generation(serial, 7 * serial, 5) for serial in range(1, 9)]

    texts, ends, rows = driven(target, EngineConfig(max_num_batched_tokens=32), *requests)

    assert texts == expected(*requests)
    assert sorted(ends) == [(one.name, 0, "length") for one in requests]
    assert {row[3] for line in rows for row in line} == {0}
    assert {len(line) for line in rows} <= {1, 2, 3, 4}
    assert max(sum(int(str(row[2])) for row in line) for line in rows) <= 32


@ENGINE
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_in_a_table_is_seen(target: HostedTarget, fault: str) -> None:
    """A fault is named by a wrong text, and by entries that are torn or a context that names another request."""
    texts, _, rows = driven(target, SMALL, *PAIR, first=fault)

    log = [row[:4] for line in rows for row in line]
    serials = [row[0] for row in log]

    assert texts != expected(*PAIR)
    assert any(row[3] for row in log) or serials.count(1) != serials.count(2)


@ENGINE
def test_no_fault_is_seen_where_there_is_none(target: HostedTarget) -> None:
    """The same two requests, undisturbed."""
    texts, _, rows = driven(target, SMALL, *PAIR)

    assert texts == expected(*PAIR)
    first, second = ([row[:4] for row in line] for line in rows[:2])
    assert (first, second) == ([[1, 0, 13, 0], [2, 0, 12, 0]], [[1, 13, 1, 0], [2, 12, 1, 0]])


@ENGINE
def test_preemption_prefixes_and_samples_change_no_text(target: HostedTarget) -> None:
    """A cache that is too small, shared prefixes and several continuations: the texts stay the same."""
    config = EngineConfig(block_size=4, num_blocks=14, max_num_batched_tokens=16, prefix_cache=True)
    requests = [generation(serial, 19, 9, shared=12, samples=1 + serial % 2) for serial in range(1, 6)]

    texts, ends, rows = driven(target, config, *requests)

    assert texts == expected(*requests)
    assert len(ends) == len(set(ends)) == 8
    assert {row[3] for line in rows for row in line} == {0}


@ENGINE
@pytest.mark.parametrize(
    ("config", "lack"),
    [(EngineConfig(policy="priority"), "priorities"), (EngineConfig(chunked_prefill=False), "computed in one iteration")],
)
def test_what_it_cannot_have_is_unsupported(target: HostedTarget, config: EngineConfig, lack: str) -> None:
    """It has no priorities, and prompts are always computed in chunks."""
    with pytest.raises(Unsupported, match=lack):
        target.engine(config)


@ENGINE
def test_its_own_message_says_what_a_block_must_have(target: HostedTarget) -> None:
    """The engine itself refuses a block that is too small."""
    with pytest.raises(TargetError, match="page_size must be at least 4"):
        target.engine(EngineConfig(block_size=2))


@pytest.mark.skipif(find_spec("transformers") is not None, reason="transformers is installed here")
def test_without_transformers_the_message_says_what_to_install() -> None:
    """The extra and the option are both named."""
    with pytest.raises(TargetError, match=r"batchproof\[transformers\].*\?python=PATH"):
        resolve("transformers")


@ENGINE
def test_the_other_scheduler_finishes_prompts_first() -> None:
    """With prefill_first, a prompt in chunks takes the whole budget, and the running request waits meanwhile."""
    target = TransformersTarget(PYTHON, scheduler="prefill_first")
    running, long = generation(1, 4, 6), generation(2, 28, 2)

    texts, _, rows = driven(target, EngineConfig(block_size=4, max_num_batched_tokens=8), running, long)
    target.close()

    assert texts == expected(running, long)
    assert [[(row[0], row[2]) for row in line] for line in rows[:3]] == [[(1, 4), (2, 4)], [(2, 8)], [(2, 8)]]


@ENGINE
def test_asynchronous_batching_runs_with_stubs_and_says_so() -> None:
    """Each text is right; its last token comes out one iteration later, and the version tells of the stubs."""
    target = TransformersTarget(PYTHON, batching="async")

    texts, ends, _ = driven(target, EngineConfig(), *PAIR)
    target.close()

    assert target.info.name == "transformers-async"
    assert target.info.version.endswith("+stubs")
    assert target.claims["looks_ahead"] == 1
    assert texts == expected(*PAIR)
    assert sorted(ends) == [("a", 0, "length"), ("b", 0, "length")]


@pytest.mark.parametrize("option", [{"device": "tpu"}, {"batching": "maybe"}])
def test_an_unknown_device_or_batching_is_misuse(option: dict[str, str]) -> None:
    """The message says what there is."""
    with pytest.raises(Misuse, match="choose from"):
        TransformersTarget(PYTHON, **option)


def test_an_unknown_scheduler_is_misuse() -> None:
    """The message names those that there are."""
    with pytest.raises(Misuse, match="fifo and prefill_first"):
        TransformersTarget(scheduler="lifo")


def test_priorities_are_not_claimed() -> None:
    """What the adapter refuses is not claimed."""
    assert "request_priorities" not in CLAIMS
    assert CLAIMS["block_size"] == 4
