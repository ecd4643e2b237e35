"""Our load on a server of texts alongside guidellm's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from batchproof.load.second_opinion.guidellm import TextOpinion
from batchproof.load.second_opinion.texts import TEXT, Agreed, Pair, agreement
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.load.second_opinion.test_guidellm import REPORT, program
from batchproof.suites.selftest.targets.engines.openai_server import Server

OURS = TextOpinion("batchproof", 400.0, 16.0, 25_000_000, 7_000_000, 130)
THEIRS = replace(OURS, tool="guidellm", tokens_per_s=396.0, ttft_p50_ns=26_000_000)


def test_what_is_near_agrees() -> None:
    """Ratios are theirs to ours, medians over the valid rounds."""
    spoilt = Pair(replace(OURS, reasons=("the host stalled",)), replace(THEIRS, tokens_per_s=10.0))
    found = Agreed((Pair(OURS, THEIRS), spoilt))

    assert found.verdict == "PASS"
    assert found.ratios == {"tokens/s": 0.99, "TTFT p50": 1.04, "ITL mean": 1.0}
    assert found.lines()[2] == "| ours | 1 of 2 | 400.0 | 16.0 | 25.0 | 7.0 |"
    assert found.lines()[-1] == "theirs to ours: tokens/s 0.990, TTFT p50 1.040, ITL mean 1.000: PASS"


def test_what_is_not_near_does_not() -> None:
    """One figure is enough."""
    assert Agreed((Pair(OURS, replace(THEIRS, itl_mean_ns=8_000_000)),)).verdict == "FAIL"


def test_without_a_valid_round_nothing_is_decided() -> None:
    """The figures are shown, with the reason."""
    found = Agreed((Pair(replace(OURS, reasons=("the host stalled",)), THEIRS),))

    assert found.verdict == "INCONCLUSIVE"
    assert found.lines()[-1].endswith("INCONCLUSIVE: no valid round: ours: the host stalled")
    assert found.facts()["verdict"] == "INCONCLUSIVE"


def test_both_are_asked_in_turns(tmp_path: Path) -> None:
    """Ours asks the server for as many tokens of each text as it is told."""
    tool = program(tmp_path, f"import json; json.dump({REPORT!r}, open(given['path'], 'w'))")
    with Server("only texts", pace_s=0.001) as server:
        found = agreement(f"openai:{server.url}", tool, "", 1, 0.5)

    (pair,) = found.pairs
    assert pair.ours.requests > 0
    assert pair.ours.tokens_per_s > 0
    assert pair.theirs.tokens_per_s == 395.75
    assert pair.ours.itl_mean_ns > 0
    assert TEXT > 1


@pytest.mark.parametrize(
    ("more", "says", "status"),
    [
        (("--guidellm", "no-such-program"), "there is no program no-such-program: pip install guidellm", 2),
        ((), "cannot be reached", 4),
    ],
)
def test_what_is_missing_is_told(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, more: tuple[str, ...], says: str, status: int
) -> None:
    """In one message."""
    given = more or ("--guidellm", program(tmp_path, ""))
    ended, _, err = invoke(capfd, "lab", "second-opinions", "--target", "openai:http://127.0.0.1:9", *given)

    assert ended == status
    assert says in one_message(err)
