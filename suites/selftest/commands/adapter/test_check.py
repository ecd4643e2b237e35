"""`batchproof adapter check` under test: right adapters are clean, and a wrong one is told which line to mend."""

from __future__ import annotations

import gc
import inspect
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from batchproof.commands.adapter import residue
from batchproof.commands.adapter.check import Examined, examine
from batchproof.commands.adapter.claims import measured
from batchproof.commands.adapter.finding import Level
from batchproof.commands.adapter.table import print_check
from batchproof.commands.new.adapter import KINDS, new_adapter
from batchproof.exit_status import ExitStatus
from batchproof.suites.selftest.commands.adapter import wrong_adapters
from batchproof.targets.witness.probe import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

# What an adapter leaves open is closed when it is collected, and Python says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
HERE = wrong_adapters.__name__
# The adapter, and what is found: the check, and a part of what it says.
WRONG = {
    "NoInfo": ("info", "`info` is a dict"),
    "OldClaims": ("claims", "the claim 'zero_delay' is off or default, not 0"),
    "RefusesAll": ("deploy", "refuses every configuration"),
    "Raises": ("submit", "raised ConnectionError: no connection"),
    "ReturnsTheAnswer": ("submit", "returned a str, not a Future"),
    "Blocks": ("submit", "it waited for the answer"),
    "Silent": ("answer", "was never answered"),
    "Fails": ("answer", "ended with Refused(LOST): connection reset"),
    "FailsWithItsOwn": ("answer", "ended with KeyError: 'outputs'"),
    "Floats": ("answer", "Response.echo has the type float64, not int64"),
    "SmallIntegers": ("answer", "Response.info has the type int32, not int64"),
    "Flat": ("answer", f"Response.echo has the shape ({len(COLUMNS)},), not (1, {len(COLUMNS)})"),
    "Pairs": ("answer", "the Future gives a tuple, not a Response"),
    "OldWitness": ("answer", "its version is 1, not"),
    "Mixed": ("own answer", "belongs to another request"),
    "LosesTheWork": ("answer", "the model was asked to work for 100 ms, and took 0.0 ms"),
    "LosesTheGate": ("gate", "answered before `release` was called"),
    "ReleasesNothing": ("gate", "not answered after `release`"),
    "LogAgain": ("log", "has more than one line for its entry"),
    "LogLate": ("log", "only seen in the log when it is over"),
    "LogEmpty": ("log", "never shows the request that is in the model"),
    "LogTwice": ("log", "plug is in more than one execution"),
    "LogText": ("log", "cannot be read"),
    "LogRaises": ("gate", "`log` raised IndexError"),
    "QueueEmpty": ("queue", "`queued()` is 0 with 1 behind a request in the model"),
    "QueueWithModel": ("queue", "`queued()` is 1 with only a request in the model"),
    "QueueNeverLess": ("queue", "`queued()` is 8 after all were answered"),
    "QueueOfEight": ("queue, deep", "`queued()` stops at 8 with 64 behind a request in the model"),
    "FullQueueBlocks": ("queue, deep", "`submit` does not return with 1"),
    "QueueHangs": ("busy model", "`queued` does not return while the model is busy"),
    "AcceptsWhenIdle": ("busy model", "`submit` does not return while the model is busy"),
    "CancelsNothing": ("cancel", "a cancelled request was executed"),
    "CancelRaises": ("cancel", "`cancel` raised NotImplementedError"),
    "FailsAsOther": ("model's error", "refused as 'other'"),
    "FailsAsItself": ("model's error", "raises OSError: status 500, not Refused"),
    "FailureIsAnAnswer": ("model's error", "gets an answer"),
    "ExpiresAsOther": ("timeout", "Refused(OTHER): no"),
    "IgnoresTimeout": ("timeout", "it was answered"),
    "IgnoresSize": ("batches", "a backlog of 8 leaves in [8], with max_batch_size 4"),
    "IgnoresOne": ("smallest batch", "with max_batch_size = 1 a backlog leaves in [2, 2, 2, 2]"),
    "IgnoresInstances": ("instances", "only one of 12 held requests is in the model"),
    "OneNumber": ("instances", "two executions at once call themselves instance 0"),
    "IgnoresDelay": ("delay", "a delay of 150 ms changes nothing"),
    "ReturnsTooEarly": ("ready", "the first request after `deploy` waits"),
    "WrongUnit": ("delay", "is the unit right?"),
    "RefusesOne": ("deploy", "raised ValueError: max_batch_size must be more than 1"),
    "OneFolder": ("side by side", "shows requests that were sent to another"),
    "OneAtATime": ("side by side", "the first is dead after the second"),
    "CloseRaises": ("close", "`close` raised ProcessLookupError"),
    "LeavesAProcess": ("left behind", "processes are left: "),
    "LeavesAThread": ("left behind", "threads are left: heartbeat"),
}


@pytest.fixture(autouse=True)
def tidy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Wait less for what ends by itself, and end what the wrong adapters leave."""
    monkeypatch.setattr(residue, "GRACE_S", 0.3)
    wrong_adapters._LeavesAThread.go_on.clear()
    yield
    wrong_adapters._LeavesAThread.go_on.set()
    gc.collect()


def line_to_mend(name: str) -> str:
    """Return `file:line` of the mark in the class of this name."""
    inner = getattr(wrong_adapters, f"_{name}", None) or getattr(wrong_adapters, name)
    lines, first = inspect.getsourcelines(inner)
    (marked,) = (first + number for number, line in enumerate(lines) if line.rstrip().endswith("# <- here"))
    return f"{Path(inspect.getfile(inner)).name}:{marked}"


def told(examined: Examined) -> list[tuple[str, str, str]]:
    """Return what is to be mended: check, what it says, and where."""
    return [(finding.check, finding.says, str(where)) for finding, where in examined.wrong]


def claimed(examined: Examined) -> dict[str, object]:
    """Return the measured claims."""
    return {one.name: one.value for one in measured(examined.facts)}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_adapter_is_told_its_line(name: str) -> None:
    """One thing is wrong, one thing is said about it, and the line is the one to mend."""
    examined = examine(f"{HERE}:{name}")
    assert examined.facts.residue is not None
    for process in examined.facts.residue.processes:
        os.kill(int(process.partition(" ")[0]), signal.SIGKILL)

    check, says = WRONG[name]
    assert [one[0] for one in told(examined)] == [check], told(examined)
    assert says in told(examined)[0][1]
    assert told(examined)[0][2].endswith(line_to_mend(name))


def test_a_stack_that_tells_no_cancelled_request_is_not_a_wrong_adapter() -> None:
    """Its request does not run, so `cancel` does something: a rule judges the rest, and nothing has to be mended."""
    examined = examine(f"{HERE}:CancelsSilently")

    (found,) = (finding for finding, _ in examined.findings if finding.check == "cancel")
    assert (found.level, told(examined)) == (Level.NOTE, [])
    assert found.says.endswith("its sender is never told: DB-CANCEL-006 judges that")
    assert claimed(examined)["cancel"] is True


def test_every_check_has_a_wrong_adapter() -> None:
    """No check is there that cannot fail, but for those that only tell."""
    examined = examine(f"{HERE}:Right")

    told_only = {"rows", "delay 0", "delay anchor", "late binding", "queue, forming", "places"}
    of_sequences = {"sequence"}  # test_a_wrong_adapter_of_sequences_is_told_its_line has wrong ones
    wrong = {check for check, _ in WRONG.values()} | of_sequences
    assert {finding.check for finding, _ in examined.findings} - wrong == told_only


def test_a_first_call_that_takes_long_is_not_held_against_it() -> None:
    """A stall of the host looks like a `submit` that waits, and does not come again and again."""
    assert told(examine(f"{HERE}:Connects")) == []


@pytest.mark.parametrize("target", [f"{HERE}:Right", "virtual", "reference", f"{HERE}:Itself"])
def test_a_right_adapter_is_clean(target: str) -> None:
    """Nothing is to be mended, and what is measured is what is known of the reference batcher."""
    examined = examine(target)

    assert told(examined) == []
    assert claimed(examined) | {"close": True, "side_by_side": True, "defaults": True} == {
        "delay": True, "delay_anchor": "oldest-enqueue", "zero_delay": "off", "batches_without_delay": True,
        "late_binding": True, "smallest_batch": 1, "rows": "counted", "instances": True, "queue": "shared",
        "queue_timeout": True, "timeout_covers": "queue", "cancel": True, "close": True, "side_by_side": True,
        "defaults": True, "sequences": "both",
    }


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "engine"])
def test_the_skeletons_are_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """What `batchproof new adapter` writes has nothing to mend; its anchor is measured as it claims it."""
    if kind == "node" and not shutil.which("node"):
        pytest.skip("Node is not installed")
    name = f"fresh_{kind.replace('-', '_')}"
    new_adapter(name, tmp_path, kind)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)

    class_name = "".join(word.capitalize() for word in name.split("_"))
    examined = examine(KINDS[kind].target.format(name=name, class_name=class_name).strip("'"))

    assert told(examined) == []
    assert claimed(examined).get("delay_anchor") == (None if kind == "sequences" else "first-dequeue")
    assert [finding.says for finding, _ in examined.findings if finding.check == "claims"] == []


@pytest.mark.parametrize(
    ("name", "some"),
    [
        ("ZeroIsTheDefault", {"zero_delay": "default"}),
        ("NeedsADelay", {"smallest_delay_ms": 1, "smallest_batch": 2}),
        ("SilentWithoutDelay", {"smallest_delay_ms": 10, "delay": True}),
        ("ClaimsItsLeast", {"smallest_delay_ms": 5}),
        ("LongLeast", {"smallest_delay_ms": 200, "delay": True}),
        ("NoDelay", {"delay": False}),
        ("IgnoresDelay", {"delay": False}),
        ("IgnoresInstances", {"instances": False}),
        ("CancelsNothing", {"cancel": False}),
        ("NoVerbs", {"cancel": False}),
        ("OneAtATime", {"side_by_side": False}),
        ("BreaksUnasked", {"instances": False}),
        ("BreaksBelowItsLeast", {"smallest_batch": 2}),
        ("EndsLater", {"close": True}),
    ],
)
def test_what_a_stack_cannot_have_is_measured(name: str, some: dict[str, object]) -> None:
    """The claim has the value that the adapter has."""
    assert claimed(examine(f"{HERE}:{name}")).items() >= some.items()


def test_a_claim_that_was_measured_otherwise_is_noted() -> None:
    """Both values are said, and nothing has to be mended: the documentation decides."""
    says = [finding.says for finding, _ in examine(f"{HERE}:OtherAnchor").findings if finding.check == "claims"]

    assert [one.partition(":")[0] for one in says] == [
        'delay_anchor = "first-dequeue" is claimed, "oldest-enqueue" was measured'
    ]


def noted(examined: Examined, check: str) -> list[str]:
    """Return what is noted under this check."""
    return [finding.says for finding, _ in examined.findings if finding.check == check and finding.level.value == "note"]


def test_a_stack_that_needs_a_delay_is_not_a_wrong_adapter() -> None:
    """What works with a delay, and not without, is about the stack: one note says so, and the rest is tried with a delay."""
    examined = examine(f"{HERE}:SilentWithoutDelay")

    assert told(examined) == []
    assert noted(examined, "no delay") == [
        "with a queue delay of 0 the first request was never answered; with 10 ms all are answered"
    ]
    assert noted(examine(f"{HERE}:ClaimsItsLeast"), "no delay") == []


def test_a_thread_that_ends_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    """Its error and its place are noted, and no traceback is printed."""
    hook = threading.excepthook

    assert noted(examine(f"{HERE}:ThreadDies"), "threads") == [
        f"a thread of the target ended with OSError: no device ({line_of('die')})"
    ]
    assert threading.excepthook is hook
    assert "Traceback" not in capfd.readouterr().err


def line_of(name: str) -> str:
    """Return `file:line` of the last line of this function of an adapter."""
    lines, first = inspect.getsourcelines(getattr(wrong_adapters._ThreadDies, name))
    return f"odd.py:{first + len(lines) - 1}"


RIGHT = (
    "ZeroIsTheDefault", "NeedsADelay", "NoDelay", "ManyAtOnce", "NoVerbs", "SilentWithoutDelay", "ThreadDies",
    "BreaksBelowItsLeast", "BreaksUnasked",
)  # fmt: skip


def test_a_stack_with_sequences_alone_is_not_a_wrong_adapter(capsys: pytest.CaptureFixture[str]) -> None:
    """It says why plain requests are not tried, tries a sequence, and names the profile that judges it."""
    examined = examine(f"{HERE}:OnlySequences")

    says = {finding.check: (finding.level, finding.says) for finding, _ in examined.findings}
    assert told(examined) == []
    assert says["deploy"][0] is Level.UNSEEN
    assert "plain requests were not tried, because `deploy` refuses a configuration without a sequence" in says["deploy"][1]
    assert "START, a request in the middle and END of one are answered" in says["sequence"][1]
    assert says["places"] == (
        Level.OK, "slots 0, 0, 0; the model is told START and END, and each finds the state that the one before it has left"
    )  # fmt: skip
    assert (examined.profile, examined.ready, claimed(examined)) == (
        "SEQUENCE", True, {"sequences": "oldest", "cancel": True, "close": True}
    )  # fmt: skip
    assert print_check(f"{HERE}:OnlySequences") is ExitStatus.FINE
    assert "--profile SEQUENCE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "check", "says"),
    [
        ("SequencesOfBothKinds", "deploy", "sequences of the strategy direct are claimed, and `deploy` refuses them"),
        ("SequencesWithoutStart", "sequence", "the START of a sequence ended with Refused(INVALID)"),
    ],
)
def test_a_wrong_adapter_of_sequences_is_told_its_line(name: str, check: str, says: str) -> None:
    """One thing is wrong, and the line is the one to mend."""
    ((found, why, where),) = told(examine(f"{HERE}:{name}"))

    assert (found, says in why) == (check, True), why
    assert where.endswith(line_to_mend("LosesStart" if name == "SequencesWithoutStart" else name))


def test_a_log_that_does_not_show_what_the_model_was_told_is_noted() -> None:
    """Nothing has to be mended, but rules cannot see it."""
    examined = examine(f"{HERE}:SequencesWithoutPlaces")

    assert told(examined) == []
    assert noted(examined, "places") == ["the log does not show what the model was told of a sequence"]


def test_a_stack_without_a_limit_is_not_a_wrong_adapter() -> None:
    """A backlog that leaves at once is what it claims, and there is no smallest batch."""
    examined = examine("batchproof.suites.selftest.narrow:NoLimit")

    assert told(examined) == []
    assert "smallest batch" not in {finding.check for finding, _ in examined.findings}


@pytest.mark.parametrize("name", RIGHT)
def test_what_a_stack_cannot_have_is_nothing_to_mend(name: str) -> None:
    """It is noted."""
    examined = examine(f"{HERE}:{name}")

    assert told(examined) == []
    assert "note" in {finding.level.value for finding, _ in examined.findings}
