"""Cases, their shrinking, and the comparison of two targets on one case."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.fixtures.case import Case, CaseError, live, show
from batchproof.fixtures.difference import Divergence, compare, divergence, seeded
from batchproof.fixtures.script import MS, Answered, Cancel, Queued, Send, gated
from batchproof.fixtures.shrinking import shrunk
from batchproof.fixtures.strength import markdown, strengths, violations
from batchproof.fixtures.targets.virtual import VirtualTarget
from batchproof.reference_batcher import BatcherConfig, QueuePolicy, TensorSpec
from batchproof.reports.picture import beside
from batchproof.suites.selftest.timelines import Run, happened, lost, request

if TYPE_CHECKING:
    from pathlib import Path

EVERYTHING = BatcherConfig(
    max_batch_size=8,
    max_queue_delay_ns=5 * MS,
    queue_timeout_ns=7 * MS,
    allow_timeout_override=True,
    max_queue_size=9,
    preferred_batch_size=(2, 6),
    priority_levels=2,
    default_priority_level=1,
    priority_queue_policy=((2, QueuePolicy(1000, "DELAY", max_queue_size=3)),),
    response_cache=True,
    inputs=(TensorSpec("EXTRA", "TYPE_INT64", (-1,), optional=True),),
)
CASE = Case(EVERYTHING, (*gated(Send("r0", priority=2, extra=1)), Send("again", twin="r0"), Cancel("again")))
BATCHES = (Run("r0 r1"), Run("r2"))
THREE = request("r0"), request("r1"), request("r2")


def test_a_case_is_data() -> None:
    """A case comes back from JSON, its facts are short, and its configuration comes back from config.pbtxt."""
    data = json.loads(json.dumps(CASE.to_json()))

    assert Case.from_json(data) == CASE
    assert BatcherConfig.from_pbtxt(EVERYTHING.to_pbtxt()) == EVERYTHING
    assert BatcherConfig().facts().keys() == {"max_batch_size", "max_queue_delay_ns", "instances", "queue_timeout_ns"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("[]", "not a case: list indices"),
        ("{", "Expecting property name"),
        ('{"script": []}', "not a case: lacks 'config'"),
        ('{"config": {"speed": 1}, "script": []}', "unknown fields of a configuration: speed"),
        ('{"config": {"max_batch_size": 0}, "script": []}', "max_batch_size must be at least 1"),
        ('{"config": {}, "script": [{"step": "jump"}]}', "unknown step 'jump'"),
        ('{"config": {}, "script": [{"step": "send", "names": 1}]}', "names"),
    ],
)
def test_a_broken_case_is_refused(tmp_path: Path, data: str, message: str) -> None:
    """A file that holds no case is refused in one line that names it."""
    path = tmp_path / "case.json"
    path.write_text(data, encoding="utf-8")

    with pytest.raises(CaseError, match=r"case\.json") as error:
        Case.read(path)

    assert message in str(error.value)
    with pytest.raises(CaseError, match=r"cannot read .*absent\.json"):
        Case.read(tmp_path / "absent.json")


def test_a_case_prints_as_a_program(tmp_path: Path) -> None:
    """The program runs, and says what the case does."""
    program = tmp_path / "case.py"
    program.write_text(CASE.python(), encoding="utf-8")

    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)

    assert ran.stdout.startswith("plug  |q")
    assert "again |" in ran.stdout
    assert "queue_timeout_ns=7000000, allow_timeout_override=True, max_queue_size=9" in CASE.python()
    assert "    Send(name='again', twin='r0'),\n" in CASE.python()


def test_show_draws_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    """`show` runs a case on a target by its name."""
    show("virtual", Case(BatcherConfig(), (Send("r0", work_ns=MS), Send("r1"))))

    assert capsys.readouterr().out.startswith("r0 |qM")


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (happened(*THREE, runs=BATCHES), None),
        (happened(*THREE, runs=(Run("r0"), Run("r1 r2"))), Divergence("batch 1", "(r0, r1)", "(r0)")),
        (happened(*THREE, runs=(Run("r1 r0"), Run("r2"))), Divergence("batch 1", "(r0, r1)", "(r1, r0)")),
        (happened(*THREE, runs=(*BATCHES, Run("r2"))), Divergence("batches", "2 of them", "3 of them")),
        (happened(*THREE[:2], request("r2", kind="full"), runs=BATCHES), Divergence("r2", "answered", "full")),
        (happened(*THREE[:2], lost("r2"), runs=BATCHES), Divergence("r2", "answered", "no answer")),
    ],
    ids=["same", "composition", "order", "one more", "refused", "hangs"],
)
def test_the_first_difference_is_found(other: Any, found: Divergence | None) -> None:
    """Composition and order of the batches first, then what became of the requests."""
    assert divergence(happened(*THREE, runs=BATCHES), other) == found


def test_with_several_instances_the_sequence_is_free() -> None:
    """Which of two instances is first is chance; which requests share a batch is not."""
    two = {"config": {"instances": 2}}
    one = happened(*THREE, runs=BATCHES, **two)

    assert divergence(one, happened(*THREE, runs=BATCHES[::-1], **two)) is None
    assert divergence(one, happened(*THREE, runs=(Run("r0"), Run("r1 r2")), **two)) is not None


@pytest.mark.parametrize(
    ("other", "where"),
    [
        (happened(*THREE, runs=(Run("r0 r1", 1), Run("r2"))), "(r0, r1)"),
        (happened(*THREE[:2], request("r2", back=501), runs=BATCHES), "r2"),
        (happened(*THREE, runs=BATCHES, statistics={"success": 2}), "what is counted"),
    ],
    ids=["enters", "comes back", "counts"],
)
def test_between_simulated_targets_everything_matters(other: Any, where: str) -> None:
    """Moments and counts are compared only there."""
    one = happened(*THREE, runs=BATCHES)

    assert divergence(one, other) is None
    apart = divergence(one, other, exact=True)
    assert apart is not None
    assert apart.where == where


def test_a_counterexample_becomes_small() -> None:
    """Whatever does not matter is left out, and what is left still fails."""
    case = Case(
        replace(EVERYTHING, max_queue_delay_ns=0),
        (*(Send(f"r{i}", rows=2, extra=1, after_ns=MS) for i in range(9)), Queued(3), Answered(("r1", "r7")), Cancel("r2")),
    )

    def fails(one: Case) -> bool:
        names = {step.name: step for step in one.script if isinstance(step, Send)}
        return "r7" in names and names["r7"].rows == 2

    assert shrunk(case, fails) == Case(BatcherConfig(), (Send("r7", rows=2), Answered(("r7",))))


def test_a_budget_ends_the_shrinking() -> None:
    """Where each try costs much, as many are made as are allowed."""
    tries: list[Case] = []

    shrunk(CASE, lambda one: bool(tries.append(one)), budget=3)

    assert len(tries) == 3


def test_two_targets_that_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same cases on the same batcher are the same: exit 0."""
    assert compare(["virtual", "virtual"], seeded(1, 3), tmp_path) == 0

    assert "3 cases, the same on virtual and virtual" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_two_targets_that_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first difference, both timelines side by side, and the case, small, to run again: exit 1."""
    assert compare(["virtual", "mutant:never-batches"], seeded(1, 20), tmp_path / "out") == 1

    printed = capsys.readouterr().out
    assert printed.startswith("DIFFERENT  batch ")
    assert "mutant:never-batches  (r" in printed
    assert f"--script {tmp_path / 'out' / 'case.json'}" in printed
    small = Case.read(tmp_path / "out" / "case.json")
    assert len([step for step in small.script if isinstance(step, Send)]) <= 3
    assert compare(["virtual", "mutant:never-batches"], [small], tmp_path / "again") == 1


def test_a_target_that_cannot_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing can be compared with what is not there: exit 2 and one line."""
    assert compare(["virtual", "mutant:tidy"], seeded(1, 1), tmp_path) == 2

    assert capsys.readouterr().err.startswith("batchproof: unknown mutant 'tidy'")


def test_pictures_beside_each_other_share_a_scale() -> None:
    """Side by side where there is room, below each other where not; the same time is the same width."""
    fast, slow = (happened(request("r0", back=back), runs=(Run("r0", 0, back),)).to_json() for back in (100, 400))

    wide = beside([("fast", fast), ("slow", slow)], 160).splitlines()
    narrow = beside([("fast", fast), ("slow", slow)], 100)

    assert wide[0].split() == ["fast", "slow"]
    assert wide[1].count("=") < 1.4 * wide[1][80:].count("=")
    assert narrow.startswith("fast\nr0 |")


def test_the_strength_of_schedules_is_measured() -> None:
    """A mutant that is noticed, one that a law notices, and one that random schedules cannot notice."""
    noticed, missed = strengths(["never-batches", "training-mode"], 40)

    assert 1 <= noticed.by_difference <= 40
    assert (missed.by_difference, missed.by_law) == (0, 0)
    assert "| training-mode | - | - |  |" in markdown([noticed, missed], 40)
    assert violations(range(5)) == []


def test_one_drive_leaves_nothing_behind() -> None:
    """A case is deployed for itself."""
    timeline = live(VirtualTarget(), CASE)

    assert [sent.name for sent in timeline.requests] == ["plug", "r0", "again"]
