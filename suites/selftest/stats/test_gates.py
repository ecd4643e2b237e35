"""Gates: each is wrong as rarely, and decides as often, as its docstring says. Both are simulated with a fixed seed."""

from __future__ import annotations

import json
import math
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest

from batchproof.stats import gates
from batchproof.stats.arrays import NEVER
from batchproof.stats.gates import FAIL, INCONCLUSIVE, PASS, Conclusion, Range, at_least, at_most, within
from batchproof.stats.intervals import Interval, exact, nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

MS = 1_000_000
GATE = 1.05
HUNDREDTH = (0.006, 0.016)  # 1 % of 2000 runs, less and more two standard deviations
RARELY = (0.0, 0.016)


# Each of these draws data whose true figure is `off` times the edge of the range, and asks the gate.


def pairs(rng: Generator, true: float, count: int, noise: float) -> list[float]:
    """Ratios with log-normal noise."""
    ratios: list[float] = np.exp(rng.normal(math.log(true), noise, count)).tolist()
    return ratios


def mean(rng: Generator, off: float) -> Conclusion:
    """9 pairs, 5 % noise."""
    return gates.mean_ratio(pairs(rng, GATE * off, 9, 0.05), at_least(GATE))


def mean_at_most(rng: Generator, off: float) -> Conclusion:
    """The same, with the range on the other side."""
    return gates.mean_ratio(pairs(rng, GATE / off, 9, 0.05), at_most(GATE))


def few(rng: Generator, off: float) -> Conclusion:
    """4 pairs, 30 % noise: the fewest pairs and the loudest noise that a rule allows."""
    return gates.mean_ratio(pairs(rng, GATE * off, 4, 0.3), at_least(GATE))


def shares(rng: Generator, off: float) -> Conclusion:
    """4 shares, 10 % noise."""
    return gates.mean_share(rng.normal(0.8 * off, 0.08, 4).tolist(), at_least(0.8))


def middle(rng: Generator, off: float) -> Conclusion:
    """20 pairs, 5 % noise."""
    return gates.median_ratio(pairs(rng, GATE * off, 20, 0.05), at_least(GATE))


def outliers(rng: Generator, off: float) -> Conclusion:
    """20 pairs with Cauchy noise, which has no mean."""
    return gates.median_ratio((GATE * off * np.exp(0.05 * rng.standard_cauchy(20))).tolist(), at_least(GATE))


def unpaired(rng: Generator, off: float) -> Conclusion:
    """8 values on either side, 5 % noise."""
    return gates.ratio_of_medians(pairs(rng, GATE * off, 8, 0.05), pairs(rng, 1, 8, 0.05), at_least(GATE))


def decline(rng: Generator, off: float) -> Conclusion:
    """9 rates, 3 % noise, which decline to 0.8 times `off` over 6 of them."""
    line = math.log(0.8 * off) / 6 * np.arange(9)
    rates = np.exp(line + rng.normal(0, 0.03, 9)).tolist()
    return gates.trend(list(enumerate(rates)), 6.0, at_least(0.8))


@pytest.mark.parametrize(
    ("run", "alarms"),
    [(mean, HUNDREDTH), (mean_at_most, HUNDREDTH), (few, HUNDREDTH), (shares, HUNDREDTH), (decline, HUNDREDTH),
     (middle, RARELY), (outliers, RARELY), (unpaired, RARELY)],
)
def test_one_false_alarm_in_a_hundred(run: Callable[[Generator, float], Conclusion], alarms: tuple[float, float]) -> None:
    """A true figure at the edge becomes PASS, and FAIL, as often as the gate says, and no gate is much too careful."""
    rng = np.random.default_rng(1729)

    found = [run(rng, 1.0).verdict for _ in range(2000)]

    for answer in (PASS, FAIL):
        assert alarms[0] <= found.count(answer) / 2000 <= alarms[1]


@pytest.mark.parametrize(
    ("run", "off", "answer"),
    [(mean, 1.1, PASS), (mean, 0.9, FAIL), (mean_at_most, 1.1, PASS), (middle, 1.1, PASS), (middle, 0.9, FAIL),
     (unpaired, 1.3, PASS), (unpaired, 1 / 1.3, FAIL), (shares, 0.5, FAIL), (decline, 1.25, PASS),
     (decline, 0.8, FAIL)],
)
def test_power_is_as_documented(run: Callable[[Generator, float], Conclusion], off: float, answer: str) -> None:
    """Off the edge by as much as the docstring says, at least 98 runs of 100 are decided, and none is decided wrongly."""
    rng = np.random.default_rng(7)

    found = [run(rng, off).verdict for _ in range(1000)]

    assert found.count(answer) >= 980
    assert set(found) <= {answer, INCONCLUSIVE}


def latencies(generator: Any, count: int, memory: float) -> Any:
    """Return exponential latencies with mean 1 ms, correlated with their neighbours by an autoregressive process."""
    from scipy import signal, special

    noise = generator.standard_normal(count + 500)
    normal = signal.lfilter([math.sqrt(1 - memory**2)], [1, -memory], noise)[500:]
    return (-np.log1p(-special.ndtr(normal)) * MS).astype(np.int64)


@pytest.mark.parametrize("memory", [0.0, 0.95])
def test_at_the_budget_few_runs_pass_or_fail(memory: float) -> None:
    """Exactly 1 % of the correlated requests are over the budget. The gate promises 1 %; estimating tau costs a little."""
    generator, budget = np.random.default_rng(7), round(-math.log(0.01) * MS)

    found = [gates.latency_within(latencies(generator, 20_000, memory), budget).verdict for _ in range(100)]

    assert found.count(PASS) <= 5
    assert found.count(FAIL) <= 5
    assert found.count(INCONCLUSIVE) >= 90


def test_if_taken_as_independent_too_many_runs_would_pass() -> None:
    """The binomial bound alone passes 15 of 100 such runs, which is why the gate counts effective requests."""
    from scipy import special

    generator, budget = np.random.default_rng(7), round(-math.log(0.01) * MS)

    over = [int((latencies(generator, 20_000, 0.95) > budget).sum()) for _ in range(100)]

    assert sum(special.bdtr(one, 20_000, 0.01) <= 0.01 for one in over) >= 15


@pytest.mark.parametrize(("share", "answer"), [(0.004, PASS), (0.025, FAIL)])
def test_off_the_budget_the_gate_decides(share: float, answer: str) -> None:
    """It decides 50,000 requests with a memory of about 10, with 0.4 % or 2.5 % over the budget."""
    generator, budget = np.random.default_rng(1), round(-math.log(share) * MS)

    found = [gates.latency_within(latencies(generator, 50_000, 0.9), budget) for _ in range(50)]

    assert [one.verdict for one in found].count(answer) >= 49
    assert found[0].effective < 25_000
    assert found[0].low < found[0].estimate < found[0].high


def test_independent_requests_are_judged_as_mlperf_does() -> None:
    """459 without a late one, and 662 with one: these are the numbers of MLPerf's early stopping for a p99."""
    one_late = np.full(662, MS)
    one_late[400] = NEVER

    assert [gates.latency_within(np.full(count, MS), 2 * MS).verdict for count in (458, 459)] == [INCONCLUSIVE, PASS]
    assert [gates.latency_within(one_late[:count], 2 * MS).verdict for count in (661, 662)] == [INCONCLUSIVE, PASS]
    assert gates.latency_within(np.full(100, NEVER), 2 * MS).verdict == FAIL


def test_an_expectation_is_refuted_as_rarely_as_it_says() -> None:
    """It is two-sided: a true mean fails twice as often as one bound is wrong. One 10 errors off fails in 98 runs of 100."""
    rng = np.random.default_rng(5)

    true = [gates.agrees(rng.normal(3, 1, 20).tolist(), 3.0, 0.99).verdict for _ in range(2000)]
    off = [gates.agrees(rng.normal(3 + 10 / math.sqrt(20), 1, 20).tolist(), 3.0, 1 - 5e-6).verdict for _ in range(500)]

    assert 0.012 <= true.count(FAIL) / 2000 <= 0.028
    assert off.count(FAIL) >= 490
    assert gates.agrees([3.0], 3.0, 0.99).verdict == INCONCLUSIVE
    assert gates.agrees([5.0, 5.0], 3.0, 0.99, tolerance=2.0).verdict == PASS


@pytest.mark.parametrize(
    ("asked", "answers"),
    [(at_least(1.0), [FAIL, INCONCLUSIVE, PASS, PASS, PASS]), (at_most(1.0), [PASS, PASS, INCONCLUSIVE, INCONCLUSIVE, FAIL]),
     (within(1.0, 1.5), [FAIL, INCONCLUSIVE, PASS, INCONCLUSIVE, FAIL]), (Range(), [PASS] * 5)],
    ids=str,
)
def test_an_interval_inside_outside_and_across(asked: Range, answers: list[str]) -> None:
    """All of it within the range, ends included, is a PASS; all of it beyond is a FAIL. Otherwise nobody can tell."""
    found = [Interval((low + high) / 2, low, high, 0.99, 9, 9.0)
             for low, high in ((0.8, 0.9), (0.9, 1.0), (1.0, 1.1), (1.0, 1.6), (1.6, 1.7))]

    assert [gates.conclude(one, asked).verdict for one in found] == answers


@pytest.mark.parametrize("asked", [at_least(0.0), at_most(9.0), within(0.0, 9.0), Range()], ids=str)
def test_without_data_nothing_is_decided(asked: Range) -> None:
    """Neither a gate with an interval decides, nor one that takes a figure as it is."""
    found = [gates.conclude(nothing(), asked), gates.figure(None, asked), gates.mean_ratio([], asked),
             gates.median_ratio([], asked), gates.ratio_of_medians([], [], asked)]

    assert {one.verdict for one in found} == {INCONCLUSIVE}


def test_a_missing_bound_decides_nothing() -> None:
    """Six pairs have no bounds of 99 %, however far they are from the edge, and one pair has no spread."""
    assert gates.median_ratio([9.0] * 6, at_least(1.05)).verdict == INCONCLUSIVE
    assert gates.median_ratio([9.0] * 7, at_least(1.05)).verdict == PASS
    assert gates.mean_ratio([9.0], at_least(1.05)).verdict == INCONCLUSIVE
    assert gates.ratio_of_medians([9.0] * 7, [1.0] * 8, at_least(1.05)).verdict == INCONCLUSIVE


@pytest.mark.parametrize(
    ("ratios", "answer"),
    [((1.06,) * 10, PASS), ((1.0,) * 10, FAIL), ((1.0,) * 5 + (1.1,) * 5, INCONCLUSIVE),
     ((1.06,) * 16 + (0.5,) * 4, PASS), ((1.0,) * 16 + (9.0,) * 4, FAIL)],
)
def test_outliers_of_a_few_pairs_decide_nothing(ratios: tuple[float, ...], answer: str) -> None:
    """The median ignores them."""
    assert gates.median_ratio(ratios, at_least(1.05)).verdict == answer


def test_a_stalled_host_explains_three_times_its_share() -> None:
    """A FAIL needs the range to be missed by more than three times the share of the time in which the host was late."""
    low = [gates.conclude(exact(0.7), at_least(0.8), late).verdict for late in (0.0, 0.04, 0.05)]
    high = [gates.conclude(exact(1.4), at_most(1.2), late).verdict for late in (0.0, 0.05, 0.06)]

    assert low == high == [FAIL, FAIL, INCONCLUSIVE]
    assert gates.conclude(exact(0.8), at_least(0.8), 0.9).verdict == PASS


@pytest.mark.parametrize(
    ("took_ns", "stall_ns", "answer"),
    [(10, 0, PASS), (11, 0, FAIL), (10, 9, PASS), (11, 1, INCONCLUSIVE), (13, 1, INCONCLUSIVE), (14, 1, FAIL)],
)
def test_a_stall_lengthens_a_duration(took_ns: int, stall_ns: int, answer: str) -> None:
    """10 ns are allowed; up to three times the stall beyond that may be due to the host."""
    assert gates.duration_within(took_ns, 10, stall_ns).verdict == answer


def test_looks_share_the_doubt() -> None:
    """Each of three looks at growing data has a third of the doubt, so a true figure at the edge passes as rarely."""
    rng, confidence = np.random.default_rng(11), gates.each_of(0.99, 3)

    wrong = 0
    for _ in range(2000):
        seen = pairs(rng, GATE, 32, 0.05)
        wrong += any(gates.mean_ratio(seen[:count], at_least(GATE), confidence).verdict == PASS for count in (8, 16, 32))

    assert confidence == pytest.approx(1 - 0.01 / 3)
    assert wrong / 2000 <= 0.016


def test_a_conclusion_says_what_was_asked() -> None:
    """It also says on what grounds, in JSON and in words. A FAIL can be withheld, and the rest stays."""
    passed, failed = (gates.median_ratio([ratio] * 8, at_least(1.05)) for ratio in (2.0, 1.0))

    assert json.loads(json.dumps(passed.to_json())) == {
        "verdict": "PASS", "asked": {"low": 1.05, "high": None}, "estimate": 2.0, "low": 2.0, "high": 2.0,
        "confidence": 0.99, "n": 8, "effective": 8.0}
    assert (str(passed), str(passed.asked)) == ("2.00 (interval 2.00 to 2.00)", ">= 1.05")
    assert str(gates.mean_ratio([2.0], within(1, 3))) == "2.00 (interval ? to ?)"
    assert (str(within(1, 3)), str(at_most(0.01)), str(Range())) == ("1 to 3", "<= 0.01", "anything")
    assert gates.withheld(passed) == passed
    assert (gates.withheld(failed).verdict, gates.withheld(failed).interval) == (INCONCLUSIVE, failed.interval)


def test_the_worst_of_some_answers() -> None:
    """A FAIL outweighs an INCONCLUSIVE, and an answer that was not judged outweighs nothing."""
    assert [gates.worst(some) for some in ((PASS, FAIL, INCONCLUSIVE), (PASS, INCONCLUSIVE), ("", PASS), ("",), ())] == [
        FAIL, INCONCLUSIVE, PASS, "", ""]


def test_a_schema_allows_three_answers() -> None:
    """The empty word is the answer when nothing was judged."""
    schema = json.loads((files("batchproof") / "reports" / "formats" / "bench.schema.json").read_text(encoding="utf-8"))
    allowed = schema["$defs"]["measurement"]["properties"]["verdict"]["enum"]

    assert sorted(allowed) == sorted(["", *get_args(gates.Answer)])


def test_no_module_has_a_fourth_answer() -> None:
    """The words that INCONCLUSIVE replaced are gone from the sources."""
    root = Path(str(files("batchproof")))
    sources = [path for room in ("bench", "commands", "fixtures", "load", "reports", "stats")
               for ending in ("py", "json") for path in (root / room).rglob(f"*.{ending}")]

    assert len(sources) > 100
    assert [path for path in sources if re.search(r"\b(UNDECIDED|UNJUDGED)\b", path.read_text(encoding="utf-8"))] == []
