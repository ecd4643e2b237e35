"""The other rules: each on blocks whose answer is plain."""

from __future__ import annotations

from typing import Any

import pytest

from batchproof.bench.ab.gates import rivals
from batchproof.bench.ab.gates.rivals import RULES


def trial(base: list[float], new: list[float], dropped: int = -1) -> dict[str, Any]:
    """A decision with these blocks."""
    pairs = [{"dropped": number == dropped, "base": {"rows_per_s": one}, "new": {"rows_per_s": other}}
             for number, (one, other) in enumerate(zip(base, new, strict=True))]  # fmt: skip
    return {"pairs": pairs}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_finds_ten_percent_and_nothing_in_nothing(rule: rivals.Rule) -> None:
    """Where there is hardly any noise, all are right."""
    base = [640.0 + number % 7 for number in range(20)]

    assert rule(base, [0.9 * one for one in base])
    assert not rule(base, list(reversed(base)))
    assert not rule(base, [1.1 * one for one in base])


def test_one_bad_block_moves_means_and_not_ranks() -> None:
    """A block at a third of the rate, out of ten: 6.7 % of the mean rate, and 20 % of the mean time."""
    base, new = [640.0] * 10, [640.0] * 9 + [213.0]

    assert RULES["means: 5 %"](base, new)
    assert RULES["pytest-benchmark mean:5%"](base, new)
    assert not RULES["Mann-Whitney, 1 %"](base, new)


def test_a_dropped_pair_is_used_by_nobody() -> None:
    """All rules judge the same blocks."""
    spoilt = trial([640.0] * 10, [640.0] * 9 + [10.0], dropped=9)

    assert rivals.slower([spoilt], RULES["means: 5 %"]) == (0, 1)


def test_a_stored_baseline_is_the_base_of_the_decision_before() -> None:
    """The host was slower the second time, on both sides: side by side that is nothing."""
    trials = [trial([640.0] * 10, [640.0] * 10), trial([500.0] * 10, [500.0] * 10)]

    assert rivals.slower(trials, RULES["means: 5 %"]) == (0, 2)
    assert rivals.slower(trials, RULES["means: 5 %"], stored=True) == (1, 1)
