"""What engines are asked for, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.bench.engines.options import TextOptions
from batchproof.bench.engines.serving import config_of
from batchproof.targets.protocol import Misuse

MS = 1_000_000


def test_lengths_and_objective() -> None:
    """What was given is said again."""
    given = TextOptions("fixed:tokens=8", "lognormal:mean=9,sigma=1", "constant", ttft_slo_ms=250, itl_slo_ms=40)
    found = given.asked()

    assert (found.prompts.spec, found.texts.spec) == ("fixed:tokens=8", "lognormal:mean=9,sigma=1")
    assert (found.objective(1).ttft_ns, found.objective(1).itl_ns) == (250 * MS, 40 * MS)
    assert given.words() == {
        "--prompts": "fixed:tokens=8",
        "--texts": "lognormal:mean=9,sigma=1",
        "--arrivals": "constant",
        "--ttft-slo-ms": "250",
        "--itl-slo-ms": "40",
    }
    assert TextOptions().words() == {}


def test_the_objective_follows_from_the_longest_iteration() -> None:
    """Ten of them until the first token, two between tokens."""
    found = TextOptions().asked().objective(20 * MS)

    assert (found.ttft_ns, found.itl_ns) == (200 * MS, 40 * MS)
    assert str(found) == "TTFT within 200 ms and no gap above 40 ms"


def test_a_trace_brings_its_arrivals(tmp_path: Path) -> None:
    """At another rate its gaps are stretched, and a closed loop repeats its lengths."""
    path = tmp_path / "trace.csv"
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n0,10,3\n1,700,4\n2,30,5\n", encoding="utf-8")
    found, config = TextOptions(trace=path).asked(), config_of({})

    assert found.asked(0.75, 100.0, 1, config).schedule.due_ns.tolist() == [0, 2 * 10**9, 4 * 10**9]
    assert found.list(5, 1, config).prompts.tolist() == [5, 350, 15, 5, 350]
    assert "lengths divided by 2" in found.list(1, 1, config).spec


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (TextOptions(arrivals="bursty"), "--arrivals bursty: choose from poisson and constant"),
        (TextOptions(prompts="8"), "unknown lengths '8'"),
        (TextOptions(trace=Path("none.csv")), "cannot read the trace none.csv"),
        (TextOptions(trace=Path("t"), texts="fixed:tokens=3"), "--trace has its own arrivals and lengths"),
        (TextOptions(itl_slo_ms=-1), "must not be negative"),
    ],
)
def test_wrong_options_are_refused(given: TextOptions, said: str) -> None:
    """The message says what would be right."""
    with pytest.raises(Misuse, match=said):
        given.asked()


def test_an_engine_without_chunks_gets_a_budget_for_whole_prompts() -> None:
    """Its blocks hold as many of the longest texts as it has rows."""
    chunked = config_of({"chunked_prefill": True, "block_size": 32})
    whole = config_of({"chunked_prefill": False, "block_size": 1})

    assert (chunked.max_num_batched_tokens, chunked.block_size, chunked.num_blocks) == (256, 32, 256)
    assert (whole.max_num_batched_tokens, whole.block_size, whole.num_blocks) == (512, 16, 512)
