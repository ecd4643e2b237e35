"""vLLM itself: its texts are the witness's, and each fault in its tables is named by what the witness logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.targets.engines import interpreter, needs
from batchproof.targets.engines import Engine, Generation, Output
from batchproof.targets.engines.vllm import VllmTarget
from batchproof.targets.protocol import Unsupported
from batchproof.targets.witness import language

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = [needs("vllm"), pytest.mark.timeout(300)]


class Faulty(VllmTarget):
    """vLLM with a fault that its configuration names."""

    program = str(Path(__file__).with_name("faulty_vllm.py"))
    beside = ("vllm_host.py", *VllmTarget.beside)


@dataclass(frozen=True)
class Fault(EngineConfig):
    """A configuration that names a fault."""

    fault: str = ""


@pytest.fixture(scope="module")
def vllm() -> Iterator[Faulty]:
    """One process for all tests of this module."""
    target = Faulty(interpreter("vllm"))
    yield target
    target.close()


def requests(*lengths: int, **more: int) -> list[Generation]:
    """Return requests with prompts of these lengths, each with a serial of its own."""
    prompts = {serial: language.prompt(serial, length, **more) for serial, length in enumerate(lengths, 1)}
    return [Generation(f"r{serial}", serial, prompt, 6) for serial, prompt in prompts.items()]


def to_the_end(engine: Engine, wanted: Sequence[Generation]) -> list[Output]:
    for request in wanted:
        engine.submit(request)
    found, busy = [], True
    while busy:
        outputs, busy = engine.step()
        found += outputs
    return found


def texts(outputs: Sequence[Output]) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return the whole text of each sample."""
    found: dict[tuple[str, int], tuple[int, ...]] = {}
    for one in outputs:
        found[one.name, one.sample] = found.get((one.name, one.sample), ()) + one.tokens
    return found


def expected(wanted: Sequence[Generation]) -> dict[tuple[str, int], tuple[int, ...]]:
    whole = {one: language.continuation(one.prompt, one.max_tokens) for one in wanted}
    return {(one.name, sample): text for one, text in whole.items() for sample in range(one.samples)}


def named(lines: Sequence[dict], wanted: Sequence[Generation]) -> set[str]:
    """Return what the log says is wrong: torn entries, and rows that are not the one that comes next of their request."""
    computed = {one.serial: 0 for one in wanted}
    lengths = {one.serial: len(one.prompt) for one in wanted}  # which fit into one iteration
    found = set()
    for serial, start, new, torn, *_ in (row for line in lines for row in line["rows"]):
        if torn:
            found.add("torn")
        if start != computed.get(serial) or (start == 0 and new != lengths[serial]):
            found.add("foreign")
        computed[serial] = start + new
    return found


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("", set()),
        ("swapped_tables", {"torn", "foreign"}),
        ("swapped_rows", {"torn", "foreign"}),
        ("stale_entry", {"torn"}),
        ("one_slot_late", {"torn"}),
        ("foreign_block", {"torn", "foreign"}),
    ],
    ids=["none", "swapped tables", "swapped rows", "stale entry", "one slot late", "foreign block"],
)
def test_a_fault_in_the_tables_is_named(vllm: Faulty, fault: str, seen: set[str]):
    """Each fault makes a text wrong and shows in the log, and without one nothing does."""
    engine = vllm.engine(Fault(fault=fault))
    wanted = requests(40, 24, 70)
    outputs = to_the_end(engine, wanted)
    lines = engine.log()

    assert named(lines, wanted) == seen
    assert (texts(outputs) == expected(wanted)) is (not fault)


def test_preemption_changes_no_text(vllm: Faulty):
    """A cache of 6 blocks for three requests that grow to 3 blocks each: one is computed again, and all texts are right."""
    engine = vllm.engine(Fault(num_blocks=6, max_model_len=192))
    wanted = [Generation(f"p{serial}", serial, language.prompt(serial, 60), 30) for serial in (1, 2, 3)]
    outputs = to_the_end(engine, wanted)

    assert texts(outputs) == expected(wanted)
    assert engine.gauges()["preempted"] > 0
    assert engine.gauges()["used_blocks"] == 0


def test_a_cached_prefix_is_read_from_the_cache(vllm: Faulty):
    """The second request begins behind the blocks that it shares, and its row shows them."""
    engine = vllm.engine(Fault(prefix_cache=True))
    first, second = requests(80, 80, shared=64)
    outputs = to_the_end(engine, [first]) + to_the_end(engine, [second])
    begins = [row[:3] for line in engine.log() for row in line["rows"] if row[2] > 1]

    assert texts(outputs) == expected([first, second])
    assert begins == [[1, 0, 80], [2, 64, 16]]
    assert engine.gauges()["cached_tokens"] == 64


def test_several_continuations_are_equal(vllm: Faulty):
    """Three samples of one prompt, each with its own end."""
    engine = vllm.engine(Fault())
    wanted = [Generation("s", 1, language.prompt(1, 40), 5, samples=3)]
    outputs = to_the_end(engine, wanted)

    assert texts(outputs) == expected(wanted)
    assert sorted(one.sample for one in outputs if one.end == "length") == [0, 1, 2]


def test_a_small_block_is_something_that_vllm_cannot_have(vllm: Faulty):
    """The CPU backend's blocks have a multiple of 32 tokens."""
    with pytest.raises(Unsupported, match="KV blocks of 16 tokens: the size must be a multiple of 32e"):
        vllm.engine(Fault(block_size=16))
