"""Tests of what a picture of a timeline is made of: what is kept, what is cut, and that it survives the report."""

from __future__ import annotations

import json
from dataclasses import replace

from batchproof.fixtures.evidence.timeline import Execution, Sent, Timeline
from batchproof.host.stalls import Stall
from batchproof.reports.lanes import MOST, MOST_STALLS, Block, Lane, Lanes, Limit, cut
from batchproof.suites.selftest.report_lines import CONFIG, MS, REARMED, data
from batchproof.targets.witness.probe import Payload

LATER = {"name": "r1", "since_ns": 97 * MS, "bound_ns": 200 * MS, "slack_ns": 50 * MS, "stall_ns": MS,
         "observed_ns": 294 * MS}


def crowd(count: int) -> Timeline:
    """`count` requests, a millisecond apart, in batches of two."""
    requests = tuple(Sent(f"r{at}", at, Payload(), (100 + at) * MS, (200 + at) * MS) for at in range(count))
    runs = tuple(Execution(0, at, (at, at + 1), (1, 1), (150 + at) * MS, (151 + at) * MS) for at in range(0, count, 2))
    return Timeline(CONFIG, requests, runs, {"start": 0, "end": 10_000 * MS})


def test_times_count_from_the_first_event() -> None:
    """Requests, batches, stalls and marks, with what is at its default left out of the data."""
    moved = replace(REARMED, requests=tuple(replace(one, sent_ns=one.sent_ns + 5 * MS) for one in REARMED.requests),
                    marks={"start": 0, "release:go": 105 * MS, "queued:3": 7 * MS, "end": 400 * MS})

    found = cut(data(moved), bounds=[LATER | {"since_ns": 102 * MS}])

    assert found.lanes == tuple(Lane(f"r{at}", sent * MS, 391 * MS) for at, sent in enumerate((0, 97, 191)))
    assert found.blocks == (Block(1, (0, 1, 2), 386 * MS, 390 * MS, requests=3, rows=3),)
    assert found.limits == (Limit(97 * MS, 200 * MS, 294 * MS, 1, 50 * MS, MS),)
    assert (found.stalls, found.marks) == (((44 * MS, MS),), (("release:go", 100 * MS),))
    assert (found.end_ns, found.delay_ns, found.hidden) == (395 * MS, 200 * MS, 0)
    assert found.to_json()["lanes"][0] == {"name": "r0", "sent_ns": 0, "answered_ns": 391 * MS}


def test_it_survives_a_report() -> None:
    """JSON and back."""
    found = cut(data(REARMED), bounds=[LATER])

    assert Lanes.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_two_thousand_requests_stay_a_picture() -> None:
    """It is cut, says by how much, and keeps those that the judgement is about, with their batches and neighbours."""
    found = cut(data(crowd(2000)), about=["r1500"], bounds=[LATER | {"name": "r1001"}])

    assert len(found.lanes) == MOST
    assert found.hidden == 2000 - MOST
    names = [f"r{at}" for at in (*range(995, 1008), *range(1495, 1506))]
    assert [lane.name for lane in found.lanes] == names
    assert found.lanes[found.limits[0].lane or 0].name == "r1001"
    assert found.blocks[-1].lanes == (MOST - 2, MOST - 1)
    assert len(json.dumps(found.to_json())) < 6000


def test_a_model_with_another_clock_has_batches_without_times() -> None:
    """Who was together is known all the same."""
    assert cut(data(replace(REARMED, same_clock=False))).blocks == (Block(1, (0, 1, 2), None, None, requests=3, rows=3),)


def test_the_longest_stalls_are_kept() -> None:
    """Of thousands, those that a reader can see; those before and after the picture are not in it."""
    stalls = tuple(Stall((at + 1) * MS, (at % 100) * MS // 10) for at in range(3000))

    found = cut(data(replace(REARMED, stalls=stalls)))

    assert len(found.stalls) == MOST_STALLS
    assert all(start <= 396 * MS and took >= 9 * MS for start, took in found.stalls)
    assert max(took for _, took in found.stalls) == 99 * MS // 10


def test_of_stalls_too_short_to_be_seen_the_longest_is_kept() -> None:
    """In 400 ms, 1 ms is thinner than a line; the reader hears of the worst."""
    stalls = tuple(Stall(at * 10 * MS, MS + at) for at in range(1, 9))

    assert cut(data(replace(REARMED, stalls=stalls))).stalls == ((79 * MS - 8, MS + 8),)


def test_places_that_do_not_exist_are_left_out() -> None:
    """A report from elsewhere may say anything that fits the schema."""
    strange = {"lanes": [{"name": "r0", "sent_ns": 0}], "blocks": [{"number": 1, "lanes": [0, 7, -1], "enter_ns": 1}],
               "limits": [{"since_ns": 0, "bound_ns": 1, "observed_ns": 2, "lane": 5}]}

    found = Lanes.from_json(strange)

    assert (found.blocks[0].lanes, found.limits) == ((0,), ())


def test_without_requests_there_is_nothing_to_draw() -> None:
    """A drive may send nothing."""
    assert cut(data(Timeline(CONFIG, ()))) == Lanes(())
