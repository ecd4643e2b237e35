"""A hunt for mistakes with sequences, and the comparison of two batchers of sequences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batchproof.commands.diff import diff, divergence
from batchproof.commands.hunt.command import HuntOptions, hunt_on
from batchproof.exit_status import ExitStatus
from batchproof.fixtures.driving.case import run_case
from batchproof.fixtures.driving.sequence_features import gated_steps_case
from batchproof.targets.virtual import VirtualTarget


def test_the_reference_keeps_the_laws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is found in simulated time, and each law has judged steps."""
    status = hunt_on(HuntOptions("virtual", campaigns=60, corpus=tmp_path, sequences=True))
    told = " ".join(capsys.readouterr().out.split())

    assert status is ExitStatus.FINE
    assert "Found: nothing." in told
    assert all(f"{kind} " in told for kind in ("state", "turn", "place", "told", "slots", "shared", "progress"))


@pytest.mark.parametrize(
    ("mutant", "kind", "rule"),
    [
        ("sequence-alone", "shared", "SB-LAW-009"),
        ("sequence-state-comes-back", "state", "SB-LAW-001"),
        ("sequence-answers-swapped", "answer", "SB-LAW-005"),
    ],
)
def test_a_mutant_is_found(mutant: str, kind: str, rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first counterexample of its law is replayed, made smaller, and kept as a bundle."""
    status = hunt_on(HuntOptions(f"mutant:{mutant}", campaigns=200, corpus=tmp_path, sequences=True))
    capsys.readouterr()
    found = [json.loads(line) for line in (tmp_path / "hunt.jsonl").read_text(encoding="utf-8").splitlines()]
    mine = next(one for one in found if one.get("kind") == kind and "happened" in one)

    assert status is ExitStatus.FAILED
    assert (mine["rule"], mine["reproduced"]) == (rule, 3)
    assert len([step for step in mine["case"]["script"] if step["step"] == "send"]) <= 8
    assert (tmp_path / f"found-{kind}.zip").exists()


def test_a_hunt_goes_on_with_sequences_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was kept without sequences is left out where sequences are hunted."""
    hunt_on(HuntOptions("virtual", campaigns=6, corpus=tmp_path))
    status = hunt_on(HuntOptions("virtual", campaigns=20, corpus=tmp_path, resume=True, sequences=True))
    capsys.readouterr()

    assert status is ExitStatus.FINE


def test_diff_compares_places(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Two references are the same in each case; the same batches in other places are not."""
    status = diff(["virtual", "virtual"], None, 1, 20, tmp_path, sequences=True)
    case = next(case for case in map(gated_steps_case, range(50)) if case.config.sequence.strategy == "direct")  # type: ignore[union-attr]
    one, other = run_case(VirtualTarget(), case), run_case(VirtualTarget("sequence-closed-up"), case)
    apart = [divergence(*(run_case(target, gated_steps_case(seed)) for target in (VirtualTarget(), VirtualTarget(
        "sequence-closed-up")))) for seed in range(40)]  # fmt: skip
    capsys.readouterr()

    assert status is ExitStatus.FINE
    assert divergence(one, one) is None
    assert one.names(one.executions[0]) == other.names(other.executions[0])
    assert any(found is not None and "in slot" in found.one for found in apart)
