"""The search for the rate that one machine sends on time."""

from __future__ import annotations

import math
from concurrent.futures import Future
from typing import TYPE_CHECKING

import pytest

from batchproof.load import punctual_rate
from batchproof.load.punctual_rate import LEAST, MOST, Tried, print_rate, search, tried
from batchproof.stats.arrays import NEVER

if TYPE_CHECKING:
    from typing import Any


@pytest.mark.parametrize("limit", [LEAST, 1_000.0, 1_234.0, 77_777.0])
def test_the_limit_is_between_the_two(limit: float) -> None:
    """What is told to hold does, what is told to be too much is, and they are within 5 % of each other."""
    low, high = search(lambda rate: rate <= limit)

    assert low <= limit < high
    assert high / low < 1.05


def test_nothing_holds_and_everything_holds() -> None:
    """Both ends are told as what they are."""
    assert search(lambda _: False) == (0.0, LEAST)
    low, high = search(lambda _: True)
    assert (MOST / 2 < low <= MOST, high) == (True, math.inf)


def test_a_rate_is_given_up_only_after_several_runs() -> None:
    """The first run that is punctual is enough."""
    def submit(_: int) -> Any:
        future: Future[int] = Future()
        future.set_result(1)
        return future

    assert len(tried(submit, 100.0, 0.2, 1, NEVER).lags_ns) == 1
    late = tried(submit, 100.0, 0.05, 1, -1)
    assert (len(late.lags_ns), late.answered) == (punctual_rate.RUNS, 1.0)
    assert late.lag_ns == min(late.lags_ns)


def test_what_is_told_about_a_rate() -> None:
    """In ms, with the word for what it means."""
    told = Tried(2000.0, (1_500_000, NEVER, 900_000), 0.998).line(1_000_000)

    assert told.split() == ["2,000/s", "send", "lag", "p99,", "ms:", "1.500", "never", "0.900", "99.8%", "answered", "holds"]
    assert Tried(1.0, (1_000_001,), 1.0).line(1_000_000).endswith("is late")


def test_the_answer_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line has the rate, and what is too much."""
    monkeypatch.setattr(
        punctual_rate, "tried", lambda _submit, rate, *_: Tried(rate, (500_000 if rate <= 1000 else 2_000_000,), 1.0)
    )

    assert print_rate("null") == 1000
    assert capsys.readouterr().out.splitlines()[-1] == (
        "null: 1,000/s with a p99 of the send lag within 1 ms; 1,044/s is too much"
    )
