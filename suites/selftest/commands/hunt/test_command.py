"""`batchproof hunt`, from the command line: what it finds, what it keeps, how it goes on, and how it ends."""

from __future__ import annotations

import errno
import json
import runpy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.commands.hunt import command, found, rounds
from batchproof.commands.hunt.ground import Ground
from batchproof.commands.hunt.judges import Judged, Trouble
from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.judging.acceptor import accept
from batchproof.fixtures.judging.declarations import SHIPPED_KNOWN_ISSUES, KnownDeath, KnownDecision, known_decisions
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reports.formats import hunt
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.targets.protocol import TargetError
from batchproof.targets.virtual import VirtualTarget

if TYPE_CHECKING:
    from pathlib import Path

    from batchproof.fixtures.evidence.timeline import Timeline

Capture = pytest.CaptureFixture[str]


def hunted(
    capfd: Capture, folder: Path, *more: object, target: str = "virtual", campaigns: int = 40
) -> tuple[int, str, str]:
    """Hunt in simulated time."""
    return invoke(capfd, "hunt", "--target", target, "--campaigns", campaigns, "--corpus", folder, *more)


def test_a_correct_batcher_passes(capfd: Capture, tmp_path: Path) -> None:
    """Nothing is found; the end says what was covered, and the file holds the corpus and where the hunt stands."""
    status, out, err = hunted(capfd, tmp_path, campaigns=60)
    file = hunt.read(tmp_path)

    assert (status, err) == (0, "")
    assert "60 campaigns on" in out
    assert "never happened:" in out
    assert out.rstrip().endswith("Found: nothing.")
    assert len(file.kept) > 10
    assert (file.found, file.damaged, file.campaigns) == ((), (), 60)
    assert file.state is not None
    assert (file.state["exit_status"], file.state["reason"]) == (0, "")


def test_a_counterexample_is_small_and_comes_again(
    capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is printed, and written as a case, a bundle and a program; each of them shows it again."""
    monkeypatch.setattr(rounds, "COMPARED", 0)
    status, out, _ = hunted(capfd, tmp_path, "--first", target="mutant:queue-one-more", campaigns=2000)
    case = Case.read(tmp_path / "found-limit.json")
    target = VirtualTarget("queue-one-more")

    assert status == 1
    assert "FOUND  limit: the limit of the queue is kept, and only that" in out
    assert "again in 3 of 3 replays" in out
    assert len(case.script) < 16
    assert accept(run_case(target, case), target.info.claims).wrong[0].kind == "limit"
    assert 'class="lane marked"' in (tmp_path / "found-limit.html").read_text(encoding="utf-8")
    assert invoke(capfd, "check", "--replay", tmp_path / "found-limit.zip")[0] == 1
    runpy.run_path(str(tmp_path / "found-limit.py"))
    assert capfd.readouterr().out.splitlines()[-1].startswith("ms ")


@pytest.mark.parametrize(
    ("mutant", "says"),
    [
        ("close-forgets", "FOUND  reason: the configuration, the request and what was done to it explain each end"),
        ("timeout-late", "FOUND  refusal: "),
    ],
)
def test_a_promise_that_only_some_traffic_shows_is_kept(capfd: Capture, tmp_path: Path, mutant: str, says: str) -> None:
    """A model that is closed forgets nobody, and a request that is late hears so while the instance is busy."""
    status, out, err = hunted(capfd, tmp_path, "--first", target=f"mutant:{mutant}", campaigns=400)

    assert (status, err) == (1, "")
    assert out.startswith(says)


@pytest.mark.parametrize("mutant", ["results-swapped", "size-by-one", "dies-of-failure", "fails-first-only"])
def test_mutants_are_found(capfd: Capture, tmp_path: Path, mutant: str) -> None:
    """Within few campaigns."""
    assert hunted(capfd, tmp_path, "--first", target=f"mutant:{mutant}", campaigns=100)[0] == 1


def test_it_goes_on(capfd: Capture, tmp_path: Path) -> None:
    """The corpus, the counts and the seeds are taken up; a damaged line is told once, and left out."""
    hunted(capfd, tmp_path, campaigns=20)
    before = hunt.read(tmp_path)
    with (tmp_path / hunt.FILE).open("a") as file:
        file.write('{"type": "kept", "camp')
    status, _, err = hunted(capfd, tmp_path, "--resume", campaigns=35)
    after = hunt.read(tmp_path)

    assert status == 0
    assert "is not a line of hunt.jsonl" in one_message(err)
    assert after.kept[: len(before.kept)] == before.kept
    assert before.campaigns == 20
    assert after.campaigns == 35
    assert len({line["campaign"] for line in after.kept}) == len(after.kept)


def test_an_earlier_hunt_is_not_lost(capfd: Capture, tmp_path: Path) -> None:
    """Without --resume, its file gets another name."""
    hunted(capfd, tmp_path, campaigns=5)
    first = (tmp_path / hunt.FILE).read_bytes()
    hunted(capfd, tmp_path, campaigns=5)

    assert (tmp_path / hunt.BEFORE).read_bytes() == first


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "no such file"),
        ("", "not a header"),
        ("no json\n", "not a header"),
        ('{"type": "header", "format": 99}\n', "its format is 99"),
        ('{"type": "header", "format": 1}\n', "lacks"),
    ],
)
def test_what_is_not_a_corpus_is_refused(capfd: Capture, tmp_path: Path, text: str | None, says: str) -> None:
    """One message, and misuse."""
    if text is not None:
        (tmp_path / hunt.FILE).write_text(text)
    status, out, err = hunted(capfd, tmp_path, "--resume")

    assert (status, out) == (2, "")
    assert says in one_message(err)


def test_the_corpus_of_another_target_is_refused(capfd: Capture, tmp_path: Path) -> None:
    """Its counts and findings are not about this one."""
    hunted(capfd, tmp_path, campaigns=5)
    status, _, err = hunted(capfd, tmp_path, "--resume", target="mutant:no-delay")

    assert (status, "a hunt on virtual, not on mutant:no-delay" in one_message(err)) == (2, True)


def test_a_full_disk_ends_it(capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One message, and the table of what was done."""
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(hunt.HuntWriter, "line", full)
    status, out, err = hunted(capfd, tmp_path)

    assert status == 4
    assert "No space left on device" in one_message(err)
    assert "Found: nothing." in out


def stopping_after(monkeypatch: pytest.MonkeyPatch, campaigns: int, error: BaseException) -> None:
    """Let this happen instead of a later drive."""
    drive, left = Ground.drive, [campaigns]

    def stops(self: Ground, *args: Any, **named: Any) -> Timeline:
        left[0] -= 1
        if left[0] < 0:
            raise error
        return drive(self, *args, **named)

    monkeypatch.setattr(Ground, "drive", stops)


def test_an_interrupted_hunt_keeps_what_it_has(capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C and SIGTERM both arrive as this exception."""
    stopping_after(monkeypatch, 12, KeyboardInterrupt())
    status, out, err = hunted(capfd, tmp_path)
    file = hunt.read(tmp_path)

    assert (status, file.campaigns) == (130, 13)
    assert "interrupted" in one_message(err)
    assert "12 campaigns on" in out
    assert file.kept


def kill_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the target end in its ninth campaign."""
    drive = Ground.drive
    dead: list[str] = []
    monkeypatch.setattr(VirtualTarget, "alive", lambda _self: "".join(dead), raising=False)

    def kills(self: Ground, *args: Any, **named: Any) -> Timeline:
        dead.extend(["it has ended"] * (self.target.info.name == "virtual" and len(dead) == 0 and named["seed"] == 9))
        return drive(self, *args, **named)

    monkeypatch.setattr(Ground, "drive", kills)


def test_a_target_that_dies_is_found(capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign that killed it is kept as a case, and the hunt ends if it cannot be started again."""
    kill_once(monkeypatch)
    status, out, err = hunted(capfd, tmp_path)

    assert status == 1
    assert "FOUND  died: the target lives" in out
    assert "the target died: it has ended" in one_message(err)
    assert json.loads((tmp_path / "found-died.json").read_text())["script"]


def test_a_known_death_is_no_finding(capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named and counted, as a decision is that is known."""
    death = KnownDeath("virtual", "", ("it has ended",), "why", "docs/findings.md#x")
    monkeypatch.setattr(command, "known_deaths", lambda _: (death,))
    kill_once(monkeypatch)
    _, out, err = hunted(capfd, tmp_path)

    assert "KNOWN  died: why (docs/findings.md#x)" in out
    assert "FOUND" not in out
    assert "the target died: it has ended" in one_message(err)


def test_a_target_that_cannot_be_deployed_is_told(capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few times in a row is enough."""
    def refuses(*_: object) -> None:
        raise TargetError("no room for a model")

    monkeypatch.setattr(VirtualTarget, "deploy", refuses)
    status, _, err = hunted(capfd, tmp_path)

    assert (status, "no room for a model" in one_message(err)) == (4, True)


def test_what_a_stall_explains_is_measured_again(capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it stays open, the hunt is inconclusive, and nothing was found."""
    opened = Judged({}, (Trouble("idle", "DB-LAW-005", Verdict.INCONCLUSIVE, "late", "soon"),))
    for module in (found, rounds):
        monkeypatch.setattr(module, "judge", lambda *_, **__: opened)
    status, out, _ = hunted(capfd, tmp_path, campaigns=2)

    assert status == 75
    assert "left open, also when measured again: idle (2)" in out
    assert out.count("Found: nothing.") == 1


def test_simulated_time_is_the_references(capfd: Capture) -> None:
    """No other target has it."""
    status, _, err = invoke(capfd, "hunt", "--target", "triton", "--simulated")

    assert (status, "only the reference batcher" in one_message(err)) == (2, True)


def test_a_known_decision_does_not_decide(capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named once, counted, and explains what it is known for only: not without the feature that it needs."""
    known = KnownDecision("limit", "mutant:queue-one-more", "", "why", "docs/findings.md#x", ("queue limit",))
    monkeypatch.setattr(command, "known_decisions", lambda _: (known,))
    monkeypatch.setattr(rounds, "COMPARED", 0)
    status, out, _ = hunted(capfd, tmp_path, "--seed", 1, target="mutant:queue-one-more", campaigns=400)
    monkeypatch.setattr(command, "known_decisions", lambda _: (replace(known, without=("queue limit",)),))

    assert (status, out.count("KNOWN  limit: why"), "known: limit (docs/findings.md#x) in" in out) == (0, 1, True)
    assert hunted(capfd, tmp_path, "--seed", 1, target="mutant:queue-one-more", campaigns=400)[0] == 1


def test_the_known_decisions_are_of_kinds_and_features_that_exist() -> None:
    """A misspelt one would explain nothing, or everything."""
    from batchproof.commands.hunt.judges import MEANINGS
    from batchproof.fixtures.driving.features import FEATURES
    from batchproof.fixtures.driving.sequence_features import STEP_FEATURES

    names = {one.name for one in FEATURES} | {*STEP_FEATURES}
    table = known_decisions(SHIPPED_KNOWN_ISSUES)

    assert table
    assert {one.kind for one in table} <= set(MEANINGS)
    assert {name for one in table for name in (*one.given, *one.without)} <= names


@pytest.mark.parametrize(
    ("kind", "reproduced", "replays", "stays_open"),
    [("idle", 0, 3, True), ("idle", 1, 3, False), ("order", 0, 3, False), ("idle", 0, 0, False)],
)
def test_a_duration_that_never_comes_again_stays_open(kind: str, reproduced: int, replays: int, stays_open: bool) -> None:
    """Once too long and in none of three replays may be the host; what no duration decides counts all the same."""
    trouble = Trouble(kind, "", Verdict.FAIL, "it happened", "nothing")
    case = Case(BatcherConfig(max_batch_size=4), ())

    seen = found.Found(trouble, 1, 0.1, case, None, reproduced, replays, False, "")

    assert seen.by_the_host is stays_open
