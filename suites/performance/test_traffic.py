"""Right under load: what the loads of the other rules show besides their speed."""

import pytest

from batchproof.suites.performance.rounds import CONFIG, rounds


@pytest.mark.rule("PERF-LAW-001")
@pytest.mark.models(CONFIG)
def test_explained_under_load(loads):
    """Each result and each decision under load is explained by the claimed semantics"""
    loads.shared("rounds", lambda: rounds(loads))
    loads.judge_traffic()
