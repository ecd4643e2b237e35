"""What facts mean: the judges of the check are pure, and are held against facts written by hand."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from batchproof.commands.adapter import answers, backlog, depth, ending, experiments, parallel, timing
from batchproof.commands.adapter.answers import Burst, First
from batchproof.commands.adapter.backlog import Backlog, Reading
from batchproof.commands.adapter.claims import measured
from batchproof.commands.adapter.depth import Deep
from batchproof.commands.adapter.ending import Cancelled, Closing, Expired, Failure, Residue, Rows, Smallest
from batchproof.commands.adapter.facts import Facts
from batchproof.commands.adapter.finding import MS, Finding
from batchproof.commands.adapter.parallel import Beside, Instances
from batchproof.commands.adapter.probe import Probe
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.selftest.commands.adapter.seen import EXPIRED, FAILED, FINE, HELD, LINES, NEVER, row
from batchproof.suites.selftest.liars import Honest, _Changed
from batchproof.targets.protocol import Kind, Refused, Response
from batchproof.targets.verbs import full


@pytest.mark.parametrize(
    ("backlog_", "check", "level", "says"),
    [
        (HELD, "queue", "ok", "exact from 0 to 1 and back"),
        (HELD, "batches", "ok", "a backlog of 2 leaves in [2]"),
        (replace(HELD, before=3), "queue", "wrong", "`queued()` is 3 before anything was sent"),
        (replace(HELD, readings=(Reading(0, 0, 0), Reading(1, 1, 900 * MS))), "queue", "note", "at most 900 ms late"),
        (replace(HELD, after=Reading(0, 1, None)), "queue", "wrong", "`queued()` is 1 after all were answered"),
        (replace(HELD, after=Reading(0, 1, None), unsettled=("b1",)), "queue", "note", "b1, behind a request"),
        (replace(HELD, after=Reading(0, 2, None), unsettled=("b1",)), "queue", "wrong", "`queued()` is 2 after all"),
        (replace(HELD, plug_logged_ns=800 * MS), "log", "note", "800 ms after it was sent"),
        (replace(HELD, lines=LINES[:1]), "log", "wrong", "b0 was answered, and the log has no execution with it"),
        (replace(HELD, passed=True), "busy model", "note", "nothing waits for an instance"),
        (replace(HELD, passed=True), "queue", "not seen", "nothing waits behind a busy model"),
        (replace(HELD, passed=True), "batches", "not seen", "a backlog needs"),
        (Backlog(4, ("release", "log")), "gate", "note", "there is no `release`"),
        (replace(HELD, size=1), "batches", "wrong", "with max_batch_size 1"),
    ],
)
def test_a_backlog(backlog_: Backlog, check: str, level: str, says: str) -> None:
    """Gate, log, queue and batches."""
    found = row(backlog.judge(backlog_), check)

    assert (found[0], says in found[1]) == (level, True), found


@pytest.mark.parametrize(
    ("sizes", "batched"), [((4, 4), True), ((1, 4, 3), True), ((1, 1, 1, 3, 2), False), ((1,) * 8, False)]
)
def test_a_backlog_leaves_in_batches_or_hardly(sizes: tuple[int, ...], batched: bool) -> None:
    """One batch more than the fewest may be what was staged; that some requests happen to meet is not batching."""
    serials = iter(range(2, 10))
    lines = [
        {"instance": 0, "batch": number, "enter_ns": number, "serials": [next(serials) for _ in range(size)], "rows": []}
        for number, size in enumerate(sizes)
    ]
    backlog_ = replace(HELD, lines=tuple(lines))

    assert backlog.is_batched(backlog_) is batched
    facts = Facts(backlog=replace(backlog_, answered=()))
    (claim,) = (one for one in measured(facts) if one.name == "batches_without_delay")
    assert claim.value is batched


@pytest.mark.parametrize(
    ("deep", "level", "says"),
    [
        (Deep(64, 64, 64), "ok", "counts 64 that wait"),
        (Deep(64, 64, 66), "ok", "counts 64 that wait"),
        (Deep(64, 64, 8), "wrong", "stops at 8 with 64 behind a request in the model"),
        (Deep(64, 64, 16, refused=48), "note", "of 64 requests behind a busy model 48 are refused, and 16 wait"),
        (Deep(64, 17, 17), "wrong", "`submit` does not return with 17 requests"),
        (Deep(tried=False), "not seen", "behind a busy model"),
    ],
)
def test_a_deep_queue(deep: Deep, level: str, says: str) -> None:
    """What is refused need not be counted, and what waits somewhere has to be."""
    found = row(depth.judge(deep), depth.CHECK)

    assert (found[0], says in found[1]) == (level, True), found


def test_a_backlog_that_was_passed_is_not_usable() -> None:
    """Where nothing waits, no later check fills a queue."""
    assert (HELD.usable, replace(HELD, passed=True).usable) == (True, False)


DROPPED = Closing(settled=False, returned=True, dropped=True)


@pytest.mark.parametrize(
    ("findings", "check", "level", "says"),
    [
        (answers.judge_first(First(100 * MS, None)), "submit", "wrong", "has not returned"),
        (answers.judge_first(First(100 * MS, 0, ended=replace(FINE, witnessed=False))), "answer", "note", "info is None"),
        (answers.judge_burst(Burst((("r0", FINE), ("r1", NEVER)))), "own answer", "wrong", "were never answered (r1)"),
        (answers.judge_burst(Burst((("r0", EXPIRED),))), "own answer", "wrong", "r0 of 1 requests sent at once ended with"),
        (ending.judge_closing(Closing(settled=True, returned=False)), "close", "wrong", "has not returned after 10 s"),
        (ending.judge_closing(Closing(settled=False, returned=True)), "close", "note", "is never answered"),
        (ending.judge_closing(DROPPED, claimed=True), "close", "note", 'claim `closing = "drops"`'),
        (ending.judge_closing(DROPPED, claimed=True, drops=True), "close", "ok", "is given up, as is claimed"),
        (ending.judge_closing(replace(DROPPED, dropped=False), drops=True), "close", "note", "is never answered"),
        (ending.judge_closing(Closing(settled=True, returned=True, serves=True)), "close", "note", "do not claim `close`"),
        (
            ending.judge_closing(Closing(settled=True, returned=True, serves=True), claimed=True),
            "close",
            "note",
            "still serves after `close`: the rules about `close` judge that",
        ),
        (ending.judge_residue(Residue(daemons=2)), "left behind", "note", "2 daemon or idle threads"),
        (ending.judge_smallest(Smallest(((1, "no"), (2, "no"), (4, "")))), "smallest batch", "note", "4 (1: no; 2: no)"),
        (timing.judge_idle(0.02), "idle", "ok", "2% of a processor while nothing is asked"),
        (timing.judge_idle(0.97), "idle", "note", "97% of a processor while nothing is asked: if it is the stack"),
        (ending.judge_smallest(Smallest(((1, "no"),))), "smallest batch", "note", "none could be deployed"),
        (ending.judge_smallest(Smallest(((1, ""),), (1, 7), 4)), "smallest batch", "note", "1 is passed on, and not kept"),
        (ending.judge_smallest(Smallest(((1, ""),), (1, 7))), "smallest batch", "wrong", "a backlog leaves in [1, 7]"),
        (ending.judge_smallest(Smallest(((1, ""),), (4, 4), 4)), "smallest batch", "wrong", "a backlog leaves in [4, 4]"),
        (ending.judge_rows(Rows("Refused(INVALID): shape")), "rows", "note", "is not served: Refused(INVALID): shape"),
        (ending.judge_failure(Failure(NEVER, FINE)), "model's error", "note", "is never answered"),
        (ending.judge_failure(Failure(FAILED, NEVER)), "model's error", "note", "got no answer"),
        (ending.judge_cancelled(Cancelled(True, False, FINE), claimed=True), "cancel", "wrong", "an answer"),
        (ending.judge_cancelled(Cancelled(True, False, NEVER), claimed=True), "cancel", "note", "DB-CANCEL-006 judges that"),
        (ending.judge_cancelled(Cancelled(True, True, NEVER), claimed=True), "cancel", "wrong", "`cancel` does nothing"),
        (ending.judge_cancelled(Cancelled(True, before="full"), claimed=True), "cancel", "not seen", "cancelled: full"),
        (ending.judge_expired(Expired("", EXPIRED, EXPIRED), claimed=True), "timeout", "ok", "a slow model counts too"),
        (ending.judge_expired(Expired("", NEVER, FINE), claimed=False), "timeout", "note", "it was never answered"),
        (parallel.judge_instances(Instances(), claimed=True), "instances", "not seen", "it needs"),
        (parallel.judge_beside(Beside(served=False)), "side by side", "wrong", "answers nothing while the first is busy"),
        (parallel.judge_beside(Beside(apart="x")), "side by side", "note", "not tried: x"),
    ],
)
def test_other_facts(findings: tuple[Finding, ...], check: str, level: str, says: str) -> None:
    """Each kind of fact has its row."""
    found = row(findings, check)

    assert (found[0], says in found[1]) == (level, True), found


@pytest.mark.parametrize(
    ("executions", "value"),
    [
        (((1, 2), (3, 1)), "counted"),
        (((1, 2, 3, 1),), "requests"),
        (((1,), (2, 3), (1,)), "requests"),
        (((1, 2, 1), (2, 1)), "split"),
        (((1,), (2,), (3,), (1,)), ""),
    ],
)
def test_how_rows_count(executions: tuple[tuple[int, ...], ...], value: str) -> None:
    """Batches of one request each say nothing."""
    assert Rows("", executions, 4, 4).value == value


@pytest.mark.parametrize(("claimed", "sent", "together"), [(True, 6, True), (False, 4, False)])
def test_the_second_of_two_workers_may_get_only_the_sixth_request(
    monkeypatch: pytest.MonkeyPatch, claimed: bool, sent: int, together: bool
) -> None:
    """A kernel deals requests out at random: where two instances are claimed, more than four are tried."""
    inside = {0: 0, 5: 1}  # the request that each worker executes -> its number

    def held(_probe: Any, name: str = "plug0", _limit_ns: int = 0) -> tuple[Any, int]:
        number = int(name.removeprefix("plug"))
        return SimpleNamespace(request=SimpleNamespace(serial=number), done=lambda: True), number

    probe: Any = SimpleNamespace(
        entered=lambda plug: plug.request.serial in inside, release=lambda _gate: None, settled=lambda *_, **__: None,
        send=lambda _name: SimpleNamespace(done=lambda: True),
        lines=[{"enter_ns": 1, "instance": worker, "serials": [serial]} for serial, worker in inside.items()],
    )  # fmt: skip
    monkeypatch.setattr(experiments, "held", held)

    seen = experiments.instances(probe, usable=True, claimed=claimed)

    assert (seen.sent, seen.together) == (sent, together)
    assert seen.instances == ((0, 1) if together else (0,))


class _OnlyTold(_Changed):
    told = 0

    def cancel(self, future: Future[Response]) -> None:
        """Tell the sender, and let the request be executed when its turn comes."""
        self.told += 1
        future.set_exception(Refused(Kind.CANCELLED, "cancelled"))

    def queued(self) -> int:
        """Return how many wait whose senders were not told."""
        waiting: int = self._inner.queued()
        return waiting - self.told


def test_a_cancelled_request_has_had_its_turn() -> None:
    """One that leaves alone, when its delay is over, is seen although its sender was told long before."""

    class OnlyTold(Honest):
        lie = _OnlyTold

    probe = Probe(full(OnlyTold()).deploy(BatcherConfig(max_batch_size=4, max_queue_delay_ns=150 * MS)))

    assert experiments.cancelled(probe, 4, usable=True).executed
