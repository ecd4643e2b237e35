"""The target `stdio` under test: a tiny batcher behind JSON lines is judged, and what a program does wrong is said."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.commands.adapter.check import examine
from batchproof.commands.adapter.claims import measured
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.selftest.command_line import invoke
from batchproof.suites.selftest.targets.stdio import double
from batchproof.targets import Kind, Payload, Refused, Request, TargetError, Unsupported, resolve
from batchproof.targets.protocol import UnknownTarget
from batchproof.targets.stdio import connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONFIG = BatcherConfig(max_batch_size=4)
BIG = 2**60 + 1  # no double-precision number
PATIENT_S = 30


def word(fault: str = "") -> str:
    """Return the target's word, for the double with this fault."""
    return f"stdio:{sys.executable} -S '{Path(double.__file__)}' {fault}".rstrip()


@pytest.fixture
def deployed() -> Iterator[Callable[[str], Any]]:
    """`deployed(fault)`: the double, configured; it is closed at the end."""
    targets = []

    def deploy(fault: str = "") -> Any:
        targets.append(resolve(word(fault)))
        return targets[-1].deploy(CONFIG)

    yield deploy
    for target in targets:
        target.close()


def refusal(future: Any) -> Refused:
    """Return what a Future raises."""
    with pytest.raises(Refused) as caught:
        future.result(PATIENT_S)
    return caught.value


def test_an_answer_keeps_every_digit(deployed: Callable[[str], Any]) -> None:
    """Numbers beyond those of JavaScript come back as they were sent; info is the witness's."""
    request = Request("r0", BIG, Payload(rows=2, nonce=BIG))

    answer = deployed("").submit(request).result(PATIENT_S)

    assert answer.echo.tolist() == request.tensor().tolist()
    assert (answer.info[:, 9].tolist(), answer.info.shape, answer.info.dtype) == ([BIG, BIG], (2, 10), "int64")


def test_messages_are_held_against_the_schemas_for_a_while(
    deployed: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those after the first hundred of a kind are not, in either direction: they would cost a bench its speed."""
    monkeypatch.setattr(connection, "VALIDATED", 2)
    checked: list[tuple[str, str]] = []
    monkeypatch.setattr(connection, "wrong", lambda _, file, name: checked.append((file, name)) or "")

    deployment = deployed("")
    for serial in range(5):
        deployment.submit(Request("r", serial)).result(PATIENT_S)

    assert [checked.count((file, "infer")) for file in ("to_adapter.json", "from_adapter.json")] == [2, 2]


def test_it_passes_the_check_of_adapters() -> None:
    """The double has nothing to mend, its claims are measured, and no process is left."""
    examined = examine(word())

    assert [finding.says for finding, _ in examined.wrong] == []
    claims = {one.name: one.value for one in measured(examined.facts)}
    assert claims.items() >= {"delay_anchor": "oldest-enqueue", "cancel": True, "instances": False, "close": True}.items()


def test_a_stack_that_an_error_of_its_model_ends_is_no_wrong_adapter() -> None:
    """A note says so, and what comes after that is measured on a new process."""
    examined = examine(word("fragile"))

    assert examined.wrong == []
    (says,) = (finding.says for finding, _ in examined.findings if finding.check == "model's error")
    assert says.startswith("the server ends after it: the rules DB-FAIL-* judge that (")
    assert {"queue_timeout", "defaults"} <= {one.name for one in examined.claims}


def test_a_program_that_dies_half_way_is_told_once() -> None:
    """The check says that it died, with its last lines and what was being tried, and blames nothing else."""
    examined = examine(word("dies-later"))

    ((finding, _),) = examined.wrong
    assert (finding.check, finding.says.partition(": ")[0]) == ("server", "the server died while this was tried")
    assert finding.says.endswith("ended with status 3; the end of what it printed:\nsegmentation fault")


def test_it_is_deployed_with_nothing_set() -> None:
    """A program that has the verb `deploy_defaults` is asked for it, and the check says what it saw."""
    target = resolve(word())
    deployment = target.deploy_defaults()

    assert deployment.submit(Request("r0", 1)).result(PATIENT_S).info[0, 3] == 1
    deployment.finish()
    target.close()
    says = [finding.says for finding, _ in examine(word()).findings if finding.check == "defaults"]
    assert says == ["with nothing set requests are answered, and a backlog leaves in batches of [8]"]
    shy = resolve(word("shy"))
    assert shy.deploy_defaults is None
    shy.close()


def test_rules_judge_it(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A rule with a gate and a backlog passes on it."""
    status, out, _ = invoke(capfd, "check", "--target", word(), "--rules", "DB-SIZE-00[12]", "--report", tmp_path)

    assert (status, out.count("PASS   ")) == (0, 2), out


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("text", "wrote a line that is not JSON"),
        ("dies", "ended with status 3; the end of what it printed:\nsegmentation fault"),
        ("no-batch", "the answer to 'infer' does not fit from_adapter.json: info: 'batch' is a required property"),
        ("text-number", "info.instance: 'first' is not of type 'integer'"),
        ("deep", "wrote a line that is not JSON (maximum recursion depth exceeded"),
        ("deep-id", "the answer to 'infer' does not fit from_adapter.json: info.batch: "),
        ("binary", "wrote a line that is not JSON ('utf-8' codec can't decode byte 0xff"),
        ("zeros", "wrote a line that is not JSON (Expecting value"),
        ("endless", "wrote a line of more than 1048576 bytes, which begins with: xxx"),
        ("array", "answered a message that it was not sent, or has already answered: [1, 2]"),
        ("invents", 'answered a message that it was not sent, or has already answered: {"id": 1000000}'),
    ],
)
def test_what_goes_wrong_at_a_request_is_said(
    deployed: Callable[[str], Any], fault: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request is lost, and the message says why."""
    monkeypatch.setattr(connection, "LONGEST", 2**20)
    lost = refusal(deployed(fault).submit(Request("r0", 1)))

    assert (lost.kind, says in lost.message) == (Kind.LOST, True), lost.message


def test_what_is_not_held_against_the_schema_is_told_all_the_same(
    deployed: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that cannot be read settles its request, and the message says what the schema does."""
    monkeypatch.setattr(connection, "VALIDATED", 0)
    deployment = deployed("empty-later")
    deployment.submit(Request("r0", 1)).result(PATIENT_S)

    refused = refusal(deployment.submit(Request("r1", 2)))
    with pytest.raises(TargetError) as caught:
        deployment.queued()

    assert "the answer to 'infer' does not fit from_adapter.json" in refused.message
    assert "the answer to 'queued' does not fit from_adapter.json: 'queued' is a required property" in str(caught.value)


@pytest.mark.parametrize("fault", ["text", "dies", "twice"])
def test_a_program_that_cannot_go_on_is_dead(deployed: Callable[[str], Any], fault: str) -> None:
    """The target says so, all requests that wait are lost, and so are those that come later."""
    deployment = deployed(fault)
    waiting = deployment.submit(Request("r0", 1, hold=1))
    deployment.release(1) if fault == "twice" else None
    waiting.exception(PATIENT_S)

    after = refusal(deployment.submit(Request("r1", 2)))

    assert after.kind is Kind.LOST
    assert deployment.inner._target.alive() == after.message


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("greets", "wrote a line that is not JSON (Expecting value: line 1 column 1 (char 0)): double 1.0 is ready"),
        ("dies-early", "ended with status 1; the end of what it printed:\nout of memory"),
        ("broken", "no device: plug one in"),
    ],
)
def test_what_goes_wrong_before_is_said(deployed: Callable[[str], Any], fault: str, says: str) -> None:
    """`deploy`, or even the start, raises TargetError with the reason."""
    with pytest.raises(TargetError) as caught:
        deployed(fault)

    assert says in str(caught.value)


def test_what_it_cannot_have_is_unsupported(deployed: Callable[[str], Any]) -> None:
    """The word that the program says is the capability."""
    with pytest.raises(Unsupported) as caught:
        deployed("refuses")

    assert caught.value.capability == "queue_timeout"


def test_a_program_that_hangs_is_given_up(deployed: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what it has not answered, and how to allow more time."""
    monkeypatch.setenv("BATCHPROOF_READY_S", "0.5")

    with pytest.raises(TargetError, match=r"has not answered 'start' after 0\.5 s: .*BATCHPROOF_READY_S=SECONDS"):
        deployed("deaf")


def test_a_silent_program_ends_all_the_same(deployed: Callable[[str], Any]) -> None:
    """A request that is never answered keeps nothing from ending; its Future is settled."""
    deployment = deployed("silent")
    future = deployment.submit(Request("r0", 1))

    deployment.close()
    deployment.finish()

    assert refusal(future).kind is Kind.LOST
    assert refusal(future).message.endswith("was stopped")


def test_a_late_request_is_the_stacks_to_refuse(deployed: Callable[[str], Any]) -> None:
    """What comes after `close` goes to the program, whose own word is passed on."""
    deployment = deployed("")
    deployment.close()

    assert refusal(deployment.submit(Request("late", 1))).message == "closed"


def test_a_program_that_drops_late_requests_breaks_the_rule(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nobody refuses them in its place."""
    args = ("--rules", "DB-LIVE-008", "--patience", "quick", "--report", tmp_path)
    broken = invoke(capfd, "check", "--target", word("drops"), *args)
    right = invoke(capfd, "check", "--target", word(), *args)

    assert (broken[0], "late: no answer" in broken[1], right[0]) == (1, True, 0), broken[1] + right[1]


def test_a_verb_that_it_does_not_have_is_not_there(deployed: Callable[[str], Any]) -> None:
    """The deployment lacks what the program did not name."""
    deployment = deployed("shy")

    assert (deployment.release, deployment.log, deployment.queued, deployment.cancel) == (None, None, None, None)
    assert deployment.submit(Request("r0", 1)).result(PATIENT_S).info is not None


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        ("stdio:", UnknownTarget, "needs a command"),
        ("stdio:node 'adapter", UnknownTarget, "No closing quotation"),
        ("stdio:no-such-program --x", TargetError, "cannot run no-such-program: No such file or directory"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(spec: str, error: type[Exception], says: str) -> None:
    """One message says why."""
    with pytest.raises(error) as caught:
        resolve(spec)

    assert says in str(caught.value)
