"""`batchproof adapter check` of engines: each mistake is named, with the line to mend, and nothing else is blamed."""

from __future__ import annotations

import pytest

from batchproof import targets
from batchproof.commands.adapter import check
from batchproof.commands.adapter.finding import Level
from batchproof.suites.selftest.commands.adapter import wrong_engines as wrong
from batchproof.targets.protocol import TargetError, TargetInfo
from batchproof.targets.verbs import full


def checked(monkeypatch: pytest.MonkeyPatch, target: type) -> check.Examined:
    monkeypatch.setattr(check, "unchecked", lambda _: full(target()))
    return check.examine("wrong")


def test_the_skeleton_is_ready_and_its_claims_are_measured(monkeypatch):
    """Nothing has to be mended."""
    found = checked(monkeypatch, wrong.target(wrong.Opened))

    assert found.wrong == []
    assert found.ready
    assert found.profile == "CONTINUOUS"
    assert {one.name: one.value for one in found.claims} == {"chunked_prefill": True, "mixed_iterations": True}
    assert [one.check for one, _ in found.findings if one.level is not Level.OK] == []


@pytest.mark.parametrize(
    ("opened", "says", "line"),
    [
        (wrong.SaysEverything, "each output of r1 has all tokens so far", "def step"),
        (wrong.ForgetsNames, "an output has the name 'request-r1', and the request has 'r1'", "def step"),
        (wrong.OwnWords, "an output ends with 'max_tokens'", "def step"),
        (wrong.NeverEnds, "r1 ended 0 times: never", "def step"),
        (wrong.EndsTwice, "r1 ended 2 times: length, length", "def step"),
        (wrong.NotAPair, "`step` returns [Output(", "def step"),
        (wrong.NeverBusy, "after step 1 no work is left, and a later one brings tokens", "def step"),
        (wrong.AlwaysBusy, "all requests have ended, and work is left", "def step"),
        (wrong.NoLog, "`log` has no line, although tokens came out", "self.log = list"),
        (wrong.LogAgain, "`log` returns a line twice", "self.log = lambda"),
        (wrong.TwoSteps, "one `step` has 2 lines, each of which counts as an iteration", "def step"),
        (wrong.AnyNumber, "with max_num_seqs = 3, an iteration has 5 rows", "class Wrong"),
        (wrong.Raises, "`submit` raised ValueError: a prompt of", "def submit"),
        (wrong.Chokes, "`abort` raised KeyError: 'r20'", "def abort"),
        (wrong.TakesNothingBack, "a request that was aborted got its whole text, 60 tokens", "def abort"),
        (wrong.IgnoresStops, "r40 continues after its stop token", "def submit"),
        (wrong.OwnGauges, "`gauges` has num_running", "def gauges"),
        (wrong.NoGauges, "the engine has no `gauges`", ""),
        (wrong.OtherModel, "token 0 of r1 is", ""),
        (wrong.Shifted, "and its log has entries out of place", ""),
        (wrong.Dies, "`step` raised EngineGone: out of memory: the last words", "raise EngineGone"),
        (wrong.Fussy, "`engine` raised ValueError: no such block size: 16", ""),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_mistake_is_named_with_its_line(monkeypatch, opened: type, says: str, line: str):
    """The first thing to mend is the mistake."""
    (finding, where), *_ = checked(monkeypatch, wrong.target(opened)).wrong

    assert says in finding.says
    assert finding.mend
    if not line.startswith("class"):
        assert line in (where.text if where else "")


def test_what_goes_wrong_only_together_is_left_to_the_rules(monkeypatch):
    """It is a note: one request alone was right, so the adapter may well be."""
    found = checked(monkeypatch, wrong.target(wrong.MixesUp))
    (says,) = [one.says for one, _ in found.findings if one.level is Level.NOTE and one.check == "text"]

    assert found.wrong == []
    assert says.startswith("together, token 0 of r")
    assert says.endswith("a request alone is right")


def test_a_claim_that_does_not_exist_ends_the_check(monkeypatch):
    """Nothing is tried with it."""
    found = checked(monkeypatch, wrong.target(wrong.Opened, steps_by_hand=True))

    assert [one.check for one, _ in found.wrong] == ["claims"]


class NoDiscipline:
    """An engine whose TargetInfo says nothing about continuous batching."""

    info = TargetInfo("n", "1", "n")
    engine = wrong.Opened


class NoEngine:
    """It says that it is one."""

    info = TargetInfo("n", "1", "n", discipline="continuous")


@pytest.mark.parametrize(
    ("name", "says"),
    [("NoDiscipline", "write TargetInfo(..., discipline='continuous')"), ("NoEngine", "it has no `engine`")],
)
def test_what_is_not_a_target_is_told_what_it_lacks(name: str, says: str):
    """An engine needs no `deploy`."""
    with pytest.raises(TargetError) as error:
        targets.resolve(f"{__name__}:{name}")

    assert says in str(error.value)


def test_a_text_that_was_over_is_not_called_ignored_aborts(monkeypatch):
    """An engine without a gate ends a text before it can be aborted: a note says what is missing."""
    found = checked(monkeypatch, wrong.target(wrong.RunsOn, iterations="free"))
    (note,) = [one for one, _ in found.findings if one.check == "abort"]

    assert (note.level, note.says) == (Level.NOTE, "the engine had computed the whole text before it could be aborted")
    assert "needs a gate" in note.mend
