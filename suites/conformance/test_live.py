"""Liveness: no request is forgotten, and no instance is idle while a request is due."""

from dataclasses import replace

import pytest

from batchproof.fixtures.driving.closing import delay_while_closing
from batchproof.fixtures.driving.script import (
    HOUR,
    MS,
    Answered,
    Cancel,
    Close,
    Closed,
    Entered,
    Malformed,
    Queued,
    Release,
    Remove,
    Running,
    Script,
    Send,
    arrivals,
    at_once,
    burst,
    gated,
    in_line,
    lone,
    names_of,
    plugged,
)
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import unmet, value_of

FOUR = BatcherConfig(max_batch_size=4)
PATIENT = BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR)
SHORTLY = BatcherConfig(max_batch_size=4, max_queue_delay_ns=500 * MS)
FOUR_WITH_POLICY = BatcherConfig(max_batch_size=4, queue_timeout_ns=60_000 * MS)
TWO_LEVELS = BatcherConfig(max_batch_size=4, priority_levels=2, default_priority_level=2)
THREE_INSTANCES = BatcherConfig(max_batch_size=4, instances=3)
SIX_INSTANCES = BatcherConfig(max_batch_size=4, instances=6)
OLDER, YOUNGER = BatcherConfig(max_batch_size=33), BatcherConfig(max_batch_size=34)  # those that are removed
TIMED = BatcherConfig(max_batch_size=35, max_queue_delay_ns=200 * MS)  # deployed between them
APART_NS = 300 * MS  # longer than any delay that FOUR is deployed with where a batch leaves although the model is busy
BUSY_NS = 1000 * MS  # a batch in the model is so long under way that closing has been heard of before it ends


@pytest.mark.rule("DB-LIVE-001")
def test_all_settled(drive, judge, seed, claims):
    """Every accepted request is answered or refused"""
    found = judge(drive(FOUR, arrivals(seed(), count=60, mean_gap_ns=2 * MS, work_ns=10 * MS, fail_share=0.1)))

    if found.passed and not unmet(claims, ("delay", "late_binding=false", "instances=false|true")):
        apart = (Send(f"r{i}", after_ns=APART_NS) for i in range(3))  # three batches wait, each of them complete
        judge(drive(FOUR, plugged(*apart, Queued(3))))


@pytest.mark.rule("DB-LIVE-002")
def test_no_idle_beside_work(drive, judge):
    """An instance does not stay idle while due work waits"""
    judge(drive(FOUR, gated(*(Send(f"r{i}", work_ns=20 * MS) for i in range(12)), in_order=False)))


def in_each(instances: int, others: int = 0) -> Script:
    """A request in each instance at the same time, behind a gate of its own.

    others: requests that are served between them while so many instances are free, so that taking turns over all instances
    leads to a busy one.
    """
    plugs = [(Send(f"p{i}", hold=f"gate{i}"), Entered(f"p{i}")) for i in range(instances)]
    between = [(Send(f"x{i}"), Answered((f"x{i}",))) for i in range(others)]
    steps = (step for pair in (*plugs[: instances - others], *between, *plugs[instances - others :]) for step in pair)
    return (*steps, *(Release(f"gate{i}") for i in range(instances)))


@pytest.mark.rule("DB-LIVE-003")
def test_instances_in_parallel(drive, judge, claims):
    """As many batches run at once as there are instances"""
    plugged_all = in_each(3)
    found = judge(drive(THREE_INSTANCES, plugged_all))

    waves = [[Send(f"before{wave}-{i}") for i in range(24)] for wave in range(24)]  # two batches for each instance
    if found.passed:
        before = (step for wave in waves for step in (*wave, Answered(names_of(wave))))
        judge(drive(THREE_INSTANCES, (*before, *plugged_all)))  # in one drive: a deployment that falls silent is discarded
        judge(drive(SIX_INSTANCES, in_each(6, others=0 if claims.get("queue") == "each-instance" else 2)))

    if claims.get("queue") != "each-instance" and not unmet(claims, ("batch_limit",)):  # or they may share one batch
        each = replace(THREE_INSTANCES, max_batch_size=max(4, claims.get("smallest_batch", 4)))
        names = [f"r{i}" for i in range(3 * each.max_batch_size)]
        judge(drive(each, (*at_once("all", *names, hold="gate"), Running(3), Release("gate"))))  # and not one by one


@pytest.mark.rule("DB-LIVE-004")
def test_close_settles(drive, judge, claims):
    """Closing the model answers or refuses every accepted request"""
    queued = tuple(Send(f"r{i}") for i in range(14))  # several batches, which may have been formed already
    plug = Send("plug", hold="gate", work_ns=BUSY_NS)

    judge(drive(FOUR, (plug, Entered("plug"), *queued, Queued(14), Close(), Release("gate"))))
    failing = Send("plug", hold="gate", work_ns=BUSY_NS // 4, fail=True)  # what waits behind it is owed all the same
    judge(drive(FOUR, (failing, Entered("plug"), *queued, Queued(14), Close(), Release("gate"))))
    if claims.get("priorities"):
        levels = tuple(Send(f"r{i}", priority=2 if i % 5 else 1) for i in range(11))
        judge(drive(TWO_LEVELS, (plug, Entered("plug"), *levels, Queued(11), Close(), Release("gate"))))
    if value_of(claims, "instances") is True and not unmet(claims, ("queue=shared|stealing",)):
        for last in (0, 2):  # closing waits for whichever instance ends last
            works = [BUSY_NS // 4 if at == last else 0 for at in range(3)]
            plugs = [Send(f"p{at}", hold="gate", work_ns=work_ns) for at, work_ns in enumerate(works)]
            held = (step for one in plugs for step in (one, Entered(one.name)))
            waiting = () if last else (*(Send(f"r{i}") for i in range(3)), Send("r3", after_ns=100 * MS))
            judge(drive(THREE_INSTANCES, (*held, *waiting, Close(), Release("gate"))))


@pytest.mark.rule("DB-LIVE-005")
def test_no_idle_with_policy(drive, judge):
    """An instance does not stay idle while due work waits, even with a queue policy"""
    for _ in range(3):
        judge(drive(FOUR_WITH_POLICY, gated(*(Send(f"r{i}", work_ns=20 * MS) for i in range(12)), in_order=False)))


@pytest.mark.rule("DB-LIVE-006")
def test_malformed_is_refused(drive, judge):
    """A malformed request among good ones is refused, and the good ones are served"""
    good = [Send(f"r{i}") for i in range(4)]

    judge(drive(FOUR, plugged(*in_line(*good[:2]), Malformed("bad"), *good[2:], Queued(4))))


@pytest.mark.rule("DB-LIVE-007")
def test_close_ends_the_delay(drive, judge, claims):
    """Closing the model settles the requests that wait for their queue delay, even if that is an hour"""
    waiting = Send("r0"), Send("r1"), Send("last", after_ns=100 * MS)
    full = Send("plug", hold="gate", work_ns=BUSY_NS), *(Send(f"plug{i}") for i in range(1, 4)), Entered("plug")
    patient = replace(PATIENT, max_queue_delay_ns=delay_while_closing(claims))

    judge(drive(patient, (waiting[0], waiting[-1], Close())))  # with a mark that ends the queue, they are no full batch

    if not unmet(claims, ("full_batch=leaves", "batch_limit")):
        judge(drive(patient, (*full, *waiting, Close(), Release("gate"))))

        another = (Send(f"full{i}") for i in range(4))  # the full batch before them leaves in any case
        judge(drive(patient, (*full, *another, *waiting, Close(), Release("gate"))))


@pytest.mark.rule("DB-LIVE-008")
def test_closed_does_not_hang(drive, judge, claims):
    """A request that comes after the model was closed is answered or refused"""
    judge(drive(FOUR, (Send("before"), Answered(("before",)), Close(), Closed(), Send("late"))))

    if not unmet(claims, ("delay", "instances=unlimited")):  # closing sends what waits, and may wait for it
        judge(drive(SHORTLY, (Send("r0", hold="gate"), Close(), Send("late", after_ns=100 * MS), Release("gate"), Closed())))

    if value_of(claims, "instances") is True and value_of(claims, "queue") != "each-instance":
        two = replace(FOUR, max_batch_size=max(4, value_of(claims, "smallest_batch")), instances=2)
        busy = Send("p0", hold="gate0"), Entered("p0"), Send("p1", hold="gate1"), Entered("p1"), Send("r0"), Send("r1")
        opened = Release("gate0"), Release("gate1")
        judge(drive(two, (*busy, Send("r2", after_ns=100 * MS), Close(), *opened, Closed(), Send("late"))))


@pytest.mark.rule("DB-LIVE-009")
def test_no_more_than_instances(drive, judge, claims):
    """No more batches run at once than there are instances"""
    later = (Send(f"later{i}", after_ns=25 * MS, work_ns=60 * MS) for i in range(8))
    ending = () if unmet(claims, ("close",)) else (Close(),)  # beside a busy model, with a queue

    judge(drive(FOUR, (*burst(12, work_ns=60 * MS), *later, *ending)))


@pytest.mark.rule("DB-LIVE-010")
def test_close_settles_what_did_not_fit(drive, judge):
    """Closing the model answers or refuses a request that did not fit into the batch before it"""
    line = in_line(Send("r0", rows=3, hold="second", work_ns=BUSY_NS), Send("r1", rows=3), Send("r2", rows=3))
    plug = Send("plug", hold="gate"), Entered("plug")

    judge(drive(FOUR, (*plug, *line, Release("gate"), Entered("r0"), Close(), Release("second"))))


@pytest.mark.rule("DB-LIVE-011")
def test_close_ends(drive, judge, claims):
    """Closing the model ends: with idle, waiting and busy instances, and after failures and cancellations"""
    several = value_of(claims, "instances") is True and value_of(claims, "queue") != "each-instance"
    config, count = (THREE_INSTANCES, 3) if several else (FOUR, 1)
    plugs, gates = [f"p{i}" for i in range(count)], [f"gate{i}" for i in range(count)]
    held = [step for plug, gate in zip(plugs, gates, strict=True) for step in (Send(plug, hold=gate), Entered(plug))]
    ending = Close(), *map(Release, gates), Closed()
    one_by_one = (step for name in ("r0", "r1", "r2") for step in (Send(name), Answered((name,))))

    cases = [] if unmet(claims, ("cancel", "instances=false|true")) else [(FOUR, _history())]
    cases.append((config, (*one_by_one, Close(), Closed())))
    cases.append((config, (*held, *map(Release, gates), Answered(tuple(plugs)), Close(), Closed())))  # all have worked
    cases.append((config, (*held, *ending)))
    cases += [(config, (*held[:2], Close(), Release(gates[0]), Closed()))] * (count > 1)  # the others are idle
    if not unmet(claims, ("delay",)):
        waiting = replace(config, max_queue_delay_ns=delay_while_closing(claims))
        cases.append((waiting, (Send("waits"), Send("last", after_ns=100 * MS), Close(), Closed())))
    for deployed, script in cases:
        found = judge(drive(deployed, script))
        if not (found.passed or found.vacuous):
            return  # each of the others may wait as long


@pytest.mark.rule("DB-LIVE-012")
def test_another_is_removed(drive, judge, claims):
    """Removing another model neither delays nor loses what waits in this one"""
    if not unmet(claims, ("delay",)):
        anchor = value_of(claims, "delay_anchor")
        first = (Send("first"), Answered(("first",))) if anchor == "loop-entry" else ()  # one that comes now has to wait
        drive(OLDER, lone())
        judge(drive(TIMED, (*first, Send("r0"), Remove()), beside=(OLDER,)))

    if not unmet(claims, ("batch_limit",)):
        judge(drive(FOUR, plugged(*in_line(*(Send(f"r{i}") for i in range(6))), Remove()), beside=(YOUNGER,)))


def _history() -> Script:
    """Requests are cancelled in the queue and in the model, and one fails; then the model is closed."""
    first = Send("plug", hold="gate"), Entered("plug"), *in_line(Send("r0"), Send("gone"), Send("r1"))
    taken_back = Cancel("gone"), Cancel("plug"), Release("gate"), Answered(("r0", "r1"))
    failed = Send("bad", fail=True), Answered(("bad",))
    again = Send("held", hold="second"), Entered("held"), Cancel("held"), Release("second"), Send("r2"), Answered(("r2",))
    return (*first, *taken_back, *failed, *again, Close(), Closed())
