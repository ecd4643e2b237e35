"""What facts mean: the judges of the check are pure, and are held against facts written by hand."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from batchproof.commands.adapter import answers, backlog, delays, depth, ending, experiments, parallel, timing
from batchproof.commands.adapter.answers import Burst, Ended, First
from batchproof.commands.adapter.backlog import Backlog, Reading
from batchproof.commands.adapter.claims import Measured, as_toml, differences, measured
from batchproof.commands.adapter.depth import Deep
from batchproof.commands.adapter.ending import Cancelled, Closing, Expired, Failure, Residue, Rows, Smallest
from batchproof.commands.adapter.facts import Facts
from batchproof.commands.adapter.finding import MS, Finding
from batchproof.commands.adapter.parallel import Beside, Defaults, Instances
from batchproof.commands.adapter.probe import Probe
from batchproof.commands.adapter.timing import Delayed, Waits
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.selftest.liars import Honest, _Changed
from batchproof.targets.protocol import Kind, Refused, Response
from batchproof.targets.verbs import full
from batchproof.targets.virtual import VirtualTarget

FINE = Ended(answered=True)
NEVER = Ended(answered=False)
FAILED = Ended(answered=True, error="Refused(FAILED): boom", kind="failed")
EXPIRED = Ended(answered=True, error="Refused(EXPIRED): late", kind="expired")
PLAIN = Waits(0, 20 * MS, (MS, 2 * MS), (MS,))
LATE = Delayed(150 * MS, (150 * MS, 151 * MS), after_busy_ns=2 * MS, grew=True)
LINES = ({"instance": 0, "batch": 1, "enter_ns": 5, "serials": [1], "rows": [1]},
         {"instance": 0, "batch": 2, "enter_ns": 9, "serials": [2, 3], "rows": [1, 1]})  # fmt: skip
HELD = Backlog(
    4, before=0, plug_logged_ns=MS, opened=True, readings=(Reading(0, 0, 0), Reading(1, 1, MS)), after=Reading(0, 0, 0),
    lines=LINES, serials=(("plug", 1), ("b0", 2), ("b1", 3)), answered=("plug", "b0", "b1"),
)


def row(findings: tuple[Finding, ...], check: str) -> tuple[str, str]:
    """Return how one check ended, and what it says."""
    (found,) = (one for one in findings if one.check == check)
    return found.level.value, found.says


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


def test_an_anchor_that_cannot_be_told_is_no_difference() -> None:
    """A batch that is closed while the model is busy waits from the first request on, whatever takes that request."""
    early = replace(LATE, grew=False)
    facts = Facts(waits=PLAIN, delayed=early)

    assert timing.took_early(early)
    assert differences({"delay_anchor": "first-dequeue"}, measured(facts)) == ()
    assert len(differences({"delay_anchor": "loop-entry"}, measured(facts))) == 1
    assert len(differences({"delay_anchor": "first-dequeue"}, measured(replace(facts, delayed=LATE)))) == 1


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


@pytest.mark.parametrize(
    ("delayed", "anchor"),
    [
        (LATE, "oldest-enqueue"),
        (replace(LATE, after_busy_ns=149 * MS), "first-dequeue"),
        (replace(LATE, lone_ns=(20 * MS, 140 * MS), after_busy_ns=149 * MS), "loop-entry"),
        (replace(LATE, lone_ns=(20 * MS, 140 * MS)), "loop-entry"),
        (replace(LATE, after_busy_ns=None), ""),
    ],
)
def test_the_anchor(delayed: Delayed, anchor: str) -> None:
    """What is left after a busy model tells one from two others, and the shortest wait tells these apart."""
    assert timing.anchor(delayed) == anchor


@pytest.mark.parametrize(
    ("waits", "none"),
    [
        (PLAIN, True),
        (replace(PLAIN, lone_ns=(2 * MS,)), True),
        (replace(PLAIN, lone_ns=(30 * MS, 2 * MS)), True),
        (replace(PLAIN, lone_ns=(10 * MS,)), False),
        (replace(PLAIN, lone_ns=(10 * MS,), burst_ns=(5 * MS,)), True),
    ],
    ids=["quick", "a tenth of the model", "one stall", "a delay", "a slow way"],
)
def test_whether_0_is_0(waits: Waits, none: bool) -> None:
    """A lone request is compared with the quickest of a burst and with the model, and noise only adds."""
    assert timing.is_none(waits) is none


@pytest.mark.parametrize(
    ("delayed", "level", "says"),
    [
        (LATE, "ok", "lone requests wait 150 ms to 151 ms"),
        (replace(LATE, unanswered=1), "ok", "lone requests wait"),
        (replace(LATE, unanswered=2), "wrong", "for longer than 1 s: is the unit right?"),
        (replace(LATE, lone_ns=(900 * MS,)), "wrong", "waits 900 ms: is the unit right?"),
        (replace(LATE, lone_ns=(2 * MS,)), "wrong", "a delay of 150 ms changes nothing"),
        (replace(LATE, lone_ns=()), "not seen", "no lone request was answered"),
        (replace(LATE, lone_ns=(17 * MS, 187 * MS, 21 * MS, 25 * MS)), "wrong", "a lone request waits 21 ms"),
        (replace(LATE, lone_ns=(17 * MS, 187 * MS, 63 * MS, 25 * MS, 20 * MS)), "wrong", "changes nothing"),
        (replace(LATE, lone_ns=(150 * MS, 86 * MS, 22 * MS, 107 * MS)), "ok", "lone requests wait 22 ms to 150 ms"),
        (replace(LATE, lone_ns=(140 * MS, 76 * MS, 12 * MS, 97 * MS, 33 * MS, 119 * MS, 55 * MS)), "ok", "wait 12 ms"),
        (replace(LATE, lone_ns=tuple(ns * MS for ns in (9, 4, 112, 20, 99, 42, 3, 90, 12))), "ok", "wait 3.0 ms to 112 ms"),
        (replace(LATE, lone_ns=tuple(ns * MS for ns in (9, 8, 112, 10, 188, 9, 8, 9, 12))), "wrong", "changes nothing"),
    ],
)
def test_a_delay(delayed: Delayed, level: str, says: str) -> None:
    """A delay is kept, lost, or far too long."""
    found = row(timing.judge_delay(delayed, PLAIN, claimed=True), "delay")

    assert (found[0], says in found[1]) == (level, True), found


def test_a_delay_against_the_least_of_a_timer_that_runs_freely() -> None:
    """Of 100 ms and of 300 ms, any part may be left."""
    least = replace(PLAIN, delay_ns=100 * MS, lone_ns=tuple(ns * MS for ns in (12, 96, 51, 70, 33)))
    delayed = replace(LATE, delay_ns=300 * MS, lone_ns=tuple(ns * MS for ns in (20, 290, 55, 88, 120, 160, 190, 220, 255)))

    assert timing.kept(delayed, least)
    assert not timing.kept(replace(delayed, lone_ns=least.lone_ns), least)


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


def test_what_was_not_tried_is_not_claimed() -> None:
    """Without facts there are no claims, and the file says so."""
    assert measured(Facts()) == ()
    assert as_toml((), "mine", "1").splitlines()[-2:] == ["[claims]", as_toml((), "mine", "1").splitlines()[-1]]


def test_claims_with_values() -> None:
    """A number, a word and a truth value are written as TOML has them, each with what it rests on."""
    slow = replace(PLAIN, lone_ns=(5 * MS,), burst_ns=(MS // 10,))
    facts = Facts(waits=slow, delayed=LATE, smallest=Smallest(((1, "no"), (2, ""))), instances=Instances("no"))

    text = as_toml(measured(facts), "mine", "1")

    assert "smallest_delay_ms = 5  # with a delay of 0 a lone request waits 5.0 ms\n" in text
    assert 'delay_anchor = "oldest-enqueue"  # roughly' in text
    assert "instances = false  # no\n" in text


SOONER = replace(LATE, lone_ns=(20 * MS, 140 * MS))
WAITED = Instances("", 2, (0, 1), together=True, shared=False)
HELD_BACK = replace(WAITED, executed=True)
STAGED = replace(
    HELD, serials=(("plug", 1),), answered=(),
    lines=tuple({"instance": 0, "batch": number, "enter_ns": number, "serials": [number * 10 + one for one in range(size)],
                 "rows": []} for number, size in enumerate((1, 4, 3), 1)),
)  # fmt: skip
NEWEST_FIRST = ({**LINES[1], "serials": [3], "rows": [1]}, {**LINES[1], "batch": 3, "serials": [2], "rows": [1]})
A_SET = {**LINES[1], "serials": [3, 2]}
NOT_GONE = Cancelled(verb=True, executed=True)


@pytest.mark.parametrize(
    ("facts", "line", "also"),
    [
        (Facts(instances=WAITED), 'queue = "each-instance"', "DB-LAW-005"),
        (Facts(instances=HELD_BACK), 'queue = "each-instance"', "DB-ORDER-005"),
        (Facts(instances=Instances("", 2)), "instances = false", "DB-LIVE-003"),
        (Facts(waits=PLAIN, delayed=SOONER), 'delay_anchor = "loop-entry"', "DB-DELAY-001"),
        (Facts(backlog=STAGED), "late_binding = false", "DB-SIZE-002"),
        (Facts(backlog=replace(HELD, lines=(LINES[0], A_SET))), 'order_within = "any"', "DB-ORDER-001"),
        (Facts(backlog=replace(HELD, lines=(LINES[0], *NEWEST_FIRST))), 'order = "any"', "DB-ORDER-001"),
        (Facts(cancelled=NOT_GONE), "cancel = false", "DB-CANCEL-001"),
        (Facts(expired=Expired("", NEVER, NEVER)), "queue_timeout = false", "DB-TIMEOUT-001"),
        (Facts(closing=Closing(settled=False, returned=True)), "close = false", "DB-LIVE-004"),
        (Facts(closing=Closing(settled=False, returned=True, dropped=True)), 'closing = "drops"', "DB-LIVE-004"),
        (Facts(defaults=Defaults(verb=True, waited_ns=(300 * MS, 500 * MS))), "default_delay_ms = 500", "DB-DELAY-001"),
    ],
)
def test_what_has_two_explanations_is_not_claimed(facts: Facts, line: str, also: str) -> None:
    """It may be meant, or be a defect: a comment says both, and only the documentation can tell."""
    lines = as_toml(measured(facts), "mine", "1").splitlines()

    assert not any(one.startswith(line) for one in lines)
    (said,) = (one for one in lines if line in one)
    assert said.startswith(f"# Decide by the documentation: {line}  # "), said
    assert (" or " in said, also in said) == (True, True), said


def test_a_delay_that_counts_since_the_last_flush_has_a_claim() -> None:
    """It looks like a timer that runs freely, and is claimed alike; both rows say so."""
    (claim,) = (one for one in measured(Facts(waits=PLAIN, delayed=SOONER)) if one.name == "delay_anchor")
    _, says = row(timing.judge_delay(replace(SOONER, after_busy_ns=0), PLAIN, claimed=True), "delay anchor")

    assert (claim.value, "since the last flush: this is the claim for both" in claim.why) == ("loop-entry", True), claim.why
    assert says.startswith("loop-entry, roughly: ")
    assert "or since the last flush, which is the same claim" in says


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (Facts(instances=Instances("Unsupported('instances')")), "instances = false"),
        (Facts(instances=replace(WAITED, shared=True)), 'queue = "shared"'),
        (Facts(cancelled=Cancelled(verb=False)), "cancel = false"),
        (Facts(expired=Expired("Unsupported('queue_timeout')")), "queue_timeout = false"),
        (Facts(closing=Closing(settled=True, returned=True)), "close = true"),
        (Facts(defaults=Defaults(verb=True, waited_ns=(9_990 * MS, 10_003 * MS))), "default_delay_ms = 11000"),
    ],
)
def test_what_has_one_explanation_is_claimed(facts: Facts, line: str) -> None:
    """The adapter refuses it, or it was seen to work."""
    assert any(one.startswith(line) for one in as_toml(measured(facts), "mine", "1").splitlines())


def test_a_first_call_that_waits_is_no_delay() -> None:
    """The second request did not wait."""
    assert [one.name for one in measured(Facts(defaults=Defaults(verb=True, waited_ns=(900 * MS, MS))))] == ["defaults"]


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("batches_without_delay", False, "DB-SIZE-001, DB-SIZE-002"),
        ("delay_anchor", "loop-entry", "DB-DELAY-001"),
        ("late_binding", False, "DB-SIZE-002"),
        ("batches_without_delay", True, ""),
        ("rows", "counted", ""),
        ("cancel", False, ""),
    ],
)
def test_a_claim_that_hides_much_comes_with_a_warning(name: str, value: bool | str, rule: str) -> None:
    """A defect that is measured looks like a promise. One that brings more rules than it takes away needs no warning."""
    before = as_toml((Measured(name, value, "it is so"),), "mine", "1").partition("[claims]\n")[2].splitlines()[0]

    assert before.startswith(f"# Careful: with the next line nobody judges {rule}") == bool(rule)
    assert before.startswith(name) == (not rule)


def test_a_claim_of_true_is_its_value() -> None:
    """`rows = true` stands for counted."""
    facts = Facts(rows=Rows("", ((1, 2), (3, 1)), 4, 4))

    assert differences({"rows": True}, measured(facts)) == ()
    assert len(differences({"rows": "requests"}, measured(facts))) == 1


@pytest.mark.parametrize(
    ("first_ns", "later_ns", "late"),
    [
        ((550 * MS, 530 * MS, 560 * MS), 152 * MS, True),
        ((550 * MS, 151 * MS), 152 * MS, False),
        ((226 * MS,), 150 * MS, True),
        ((225 * MS,), 150 * MS, False),
        ((260 * MS,), 190 * MS, False),
        ((150 * MS,), 20 * MS, False),
        ((), 150 * MS, False),
    ],
    ids=["on each deployment", "on one", "more than half a delay", "half a delay", "a slow host", "a ticker", "unknown"],
)
def test_the_first_request_is_late_on_every_deployment(first_ns: tuple[int, ...], later_ns: int, *, late: bool) -> None:
    """A stall hits one of them, and a stack that is not ready all."""
    fresh = timing.Fresh(150 * MS, first_ns, later_ns)

    assert fresh.late is late
    assert bool(timing.judge_fresh(fresh)) is late


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


@pytest.mark.parametrize(
    ("left_ms", "anchored"),
    [((120, 2), "oldest-enqueue"), ((120, 110, 1), "oldest-enqueue"), ((152, 151, 150, 1), "first-dequeue")],
)
def test_what_a_host_adds_is_not_taken_for_a_delay(
    monkeypatch: pytest.MonkeyPatch, left_ms: tuple[int, ...], anchored: str
) -> None:
    """A request that was late once behind a busy model is tried again; one that always waits for the delay does so."""
    tries = iter(left_ms)
    monkeypatch.setattr(delays, "_after_busy", lambda _probe, _delay_ns: (next(tries) * MS, True))
    probe = Probe(full(VirtualTarget()).deploy(BatcherConfig(max_queue_delay_ns=150 * MS)))

    found = delays.delayed(probe, 150 * MS, usable=True)

    assert timing.anchor(found) == anchored
    assert found.grew


@pytest.mark.parametrize(
    ("delay_ns", "lone_ns", "tries"),
    [(0, [9 * MS] * 5 + [MS // 2] * 10, 2), (0, [9 * MS] * 15, 3), (0, [MS // 2] * 15, 1), (MS, [9 * MS] * 15, 1)],
    ids=["a busy host", "a delay", "none", "asked for"],
)
def test_a_wait_without_a_delay_is_tried_again(
    delay_ns: int, lone_ns: list[int], tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that is busy looks like a delay of its own, but not each time."""
    waits_ns = iter(lone_ns)
    monkeypatch.setattr(delays, "alone", lambda *_, **__: SimpleNamespace(outside_ns=lambda: next(waits_ns)))
    quick = SimpleNamespace(outside_ns=lambda: MS // 4)
    probe: Any = SimpleNamespace(send=lambda _: quick, settled=lambda *_: True)

    seen = delays.waits(probe, delay_ns)

    assert (len(seen.lone_ns), len(seen.burst_ns)) == (5 * tries, 3 * tries)


def test_a_wait_without_a_delay_says_what_was_compared() -> None:
    """Both durations have their units."""
    (found,) = timing.judge_none(Waits(0, 20 * MS, (9 * MS,), (MS // 4,)))

    assert found.says == (
        "with a queue delay of 0 a lone request still waits: a lone request spends 9.0 ms outside the model, the quickest "
        "of a burst 0.2 ms (more than 3 times as long, and more than a tenth of the model's 20 ms)"
    )


def test_a_difference_has_units() -> None:
    """What is claimed and what was measured."""
    (found,) = differences({"default_delay_ms": 0}, (Measured("default_delay_ms", 30, "so it was"),))

    assert found.says == "default_delay_ms = 0 ms is claimed, 30 ms was measured: so it was"


def test_a_delay_that_gathers_requests_says_nothing_of_batches_without_one() -> None:
    """A backlog that leaves one by one with the least delay does so without any; full batches may be due to the delay."""
    with_delay = replace(PLAIN, delay_ns=MS)
    names = [[one.name for one in measured(Facts(backlog=STAGED, waits=waits))] for waits in (PLAIN, with_delay)]

    assert ["batches_without_delay" in one for one in names] == [True, False]


def test_a_lone_request_does_not_show_whether_newcomers_restart_the_delay() -> None:
    """A claim of `newest-enqueue` is not said to have been measured otherwise."""
    found = measured(Facts(waits=PLAIN, delayed=LATE))

    assert differences({"delay_anchor": "newest-enqueue"}, found) == ()
    assert len(differences({"delay_anchor": "loop-entry"}, found)) == 1
