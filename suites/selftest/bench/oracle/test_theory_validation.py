"""The table of theory against simulation: the two agree, and the table can show that they do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchproof.bench.oracle import chains
from batchproof.bench.oracle import theory_validation as validation
from batchproof.stats.gates import FAIL, PASS

TAU = validation.service_times(8)


def test_theory_and_simulation_agree() -> None:
    """Every scenario of the table agrees in a shortened run; `batchproof lab theory` makes the whole one.

    False alarms of this test: fewer than 1 in 1000 seeds (see the module); the seed is fixed.
    """
    opened = [row for scenario in validation.scenarios() for row in validation.rows(scenario, 1729, 2500)]
    found = opened + validation.closed_rows(50)

    assert len(found) > 80
    assert [row for row in found if row.verdict != PASS] == []
    told = {row.what: row.theory for row in found}
    assert len(told) == 8


@pytest.mark.parametrize(("name", "attribute"), [("mean", "mean_ns"), ("batch", "mean_batch")])
def test_a_wrong_theory_is_seen(name: str, attribute: str) -> None:
    """The check has power: if the theory is off by three percent, or forgets the delay, the row fails."""
    scenario = next(one for one in validation.scenarios() if one.at == "load 0.3, 1 ms")
    off = replace(scenario, theory={name: scenario.theory[name] * 1.03})
    forgot = replace(scenario, theory={name: getattr(chains.bulk(scenario.rate, TAU, 8), attribute)})

    assert {row.verdict for row in validation.rows(scenario, 7, 3000)} == {PASS}
    assert {row.verdict for one in (off, forgot) for row in validation.rows(one, 7, 3000)} == {FAIL}


def test_the_table_counts_the_rows_that_fail(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is printed, and the number of rows that fail is returned."""
    scenario = next(validation.scenarios())
    monkeypatch.setattr(validation, "scenarios", lambda: iter([scenario]))
    assert validation.print_table(2000) == 0
    assert "| one at a time (M/D/1) | load 0.5 | p99, ms | 8.6725 |" in capsys.readouterr().out
    monkeypatch.setattr(validation, "scenarios", lambda: iter([replace(scenario, theory={"mean": 9e9})]))
    assert validation.print_table(2000) == 1
    assert "| FAIL |" in capsys.readouterr().out
