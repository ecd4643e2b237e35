"""The comparison of a spread load with that of one machine: what is taken off, and what is close enough."""

from __future__ import annotations

import numpy as np
import pytest

from batchproof.load.runs import Run
from batchproof.load.spread.lab.agreement import FAIL, INCONCLUSIVE, PASS, Round, medians, row, verdict
from batchproof.load.validity import Validity
from batchproof.suites.selftest.samples import samples

MS = 1_000_000
WAY = 10 * MS


def ran(latency_ms: float, why: tuple[str, ...] = (), share: float = 1.0) -> Run:
    """Return a run in which every request takes so long, and only a share comes back while load is offered."""
    plain = samples(1000)
    done = plain.scheduled_ns + round(latency_ms * MS)
    late = np.arange(1000) >= share * 1000
    return Run("open", "by hand", samples(1000, done_ns=np.where(late, done + 2000 * MS, done)), 1000 * MS, Validity(why))


def both(spread_ms: float, why: tuple[str, ...] = (), share: float = 1.0) -> Round:
    """Return a round in which one machine sees 100 ms."""
    return Round(ran(100), ran(spread_ms, why, share), WAY)


def test_the_known_way_is_taken_off() -> None:
    """110 ms, of which 10 ms are the way, are the 100 ms of one machine."""
    assert both(110).latency(50) == both(110).latency(99) == 1.0


@pytest.mark.parametrize(
    ("spread_ms", "share", "word"),
    [(110, 1, PASS), (114.9, 1, PASS), (115.1, 1, FAIL), (104.9, 1, FAIL), (105.1, 1, PASS), (110, 0.95, FAIL)],
)
def test_what_is_close_enough(spread_ms: float, share: float, word: str) -> None:
    """Within 5 % on both sides, for throughput within 2 %."""
    assert verdict(medians([both(spread_ms, share=share)] * 3)) == word


def test_rounds_that_are_not_results_do_not_count() -> None:
    """With fewer than three that are, nothing is said."""
    spoilt = both(500, ("the generator was late",))

    assert medians([both(110), both(110), spoilt]) == {}
    assert verdict({}) == INCONCLUSIVE
    assert verdict(medians([both(110), both(110), both(110), spoilt])) == PASS


def test_one_round_that_is_off_decides_nothing() -> None:
    """The medians are judged."""
    found = medians([both(110), both(300), both(110)])

    assert found == {"throughput": pytest.approx(0.9, abs=0.2), "p50": 1.0, "p99": 1.0}


def test_a_round_on_a_line() -> None:
    """Figures of both, and the ratios; or why it does not count."""
    assert " ".join(row(3, both(110)).split()) == "3 901.00 100.00 100.00 891.00 110.00 110.00 0.9889 1.0000 1.0000"
    assert row(3, both(110, ("too late",))).split(maxsplit=1)[1] == "INVALID (spread): too late"
