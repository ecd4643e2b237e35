"""Which claims the facts support, which have two explanations, and how both are written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchproof.commands.adapter import timing
from batchproof.commands.adapter.claims import Measured, as_toml, differences, measured
from batchproof.commands.adapter.ending import Cancelled, Closing, Expired, Rows, Smallest
from batchproof.commands.adapter.facts import Facts
from batchproof.commands.adapter.finding import MS
from batchproof.commands.adapter.parallel import Defaults, Instances
from batchproof.suites.selftest.commands.adapter.seen import HELD, LATE, LINES, NEVER, PLAIN, STAGED, row


def test_an_anchor_that_cannot_be_told_is_no_difference() -> None:
    """A batch that is closed while the model is busy waits from the first request on, whatever takes that request."""
    early = replace(LATE, grew=False)
    facts = Facts(waits=PLAIN, delayed=early)

    assert timing.took_early(early)
    assert differences({"delay_anchor": "first-dequeue"}, measured(facts)) == ()
    assert len(differences({"delay_anchor": "loop-entry"}, measured(facts))) == 1
    assert len(differences({"delay_anchor": "first-dequeue"}, measured(replace(facts, delayed=LATE)))) == 1


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
