"""A run beside its simulation: the margins, and for whom they count."""

from __future__ import annotations

import pytest

from batchproof.bench.engines.oracle import Comparison


@pytest.mark.parametrize(("ratio", "verdict"), [(1.0, "PASS"), (1.04, "PASS"), (1.06, "FAIL"), (0.94, "INCONCLUSIVE")])
def test_the_reference_is_held_to_its_simulation(ratio: float, verdict: str) -> None:
    """Slower fails; faster cannot be, so that the simulation does not fit."""
    found = Comparison({"ttft": 100.0, "e2e": 100.0 * ratio}, {"ttft": 100.0, "e2e": 100.0})

    assert found.verdict("continuous") == verdict
    assert found.ratios["e2e"] == pytest.approx(ratio)


def test_others_are_reported() -> None:
    """Another scheduler need not decide as the reference does."""
    assert Comparison({"e2e": 300.0}, {"e2e": 100.0}).verdict("vllm") == ""
