"""Tests of the picture of a timeline: what is where, what it says, and that it stays small and harmless."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchproof.reports.html.lane_words import NO_CLOCK, ONE_MOMENT, ms, notes
from batchproof.reports.html.lanes import ASIDE, LEFT, span, svg
from batchproof.reports.lanes import Block, Lane, Lanes, Limit, cut
from batchproof.suites.selftest.report_lines import HOSTILE, MS, REARMED, data
from batchproof.suites.selftest.reports.test_lanes import LATER, crowd

OVER = LATER | {"name": "r0", "since_ns": 0, "observed_ns": 391 * MS}
FAILED = cut(data(REARMED), bounds=[OVER])


def parts(picture: Lanes, title: str = "a picture", **more: object) -> list[tuple[str, str]]:
    """Return the class and the words of everything that can be pointed at, in its order."""
    root = ET.fromstring(svg(picture, title, **more))  # type: ignore[arg-type]  # noqa: S314
    return [(part.get("class", ""), str(part[0].text)) for part in root.iter("g") if part.get("role") == "img"]


def places(picture: Lanes, kind: str) -> list[str | None]:
    """Return the paths, or the left edges, of the elements with this class."""
    root = ET.fromstring(svg(picture, "a picture"))  # noqa: S314
    return [one.get("d") or one.get("x") for one in root.iter() if one.get("class") == kind]


def test_a_failure_says_everything_that_a_reader_asks_for() -> None:
    """The stall, each request, the batch, and the bound that was exceeded, with exact times."""
    in_batch = "in the model with batch 1 from 391 ms until 395 ms, answered at 396 ms."
    allowed = "200 ms from 0 ms on, so until 200 ms; 50 ms slack, 3 x 1 ms worst stall. It took 391 ms: exceeded."

    assert parts(replace(FAILED, marks=(("release:go", 390 * MS),))) == [
        ("stall", "The host stalled for 1 ms, from 49 ms to 50 ms."),
        ("lane", f"r0: sent at 0 ms, waited for 391 ms, {in_batch} Its queue delay of 200 ms ends at 200 ms."),
        ("lane", f"r1: sent at 97 ms, waited for 294 ms, {in_batch}"),
        ("lane", f"r2: sent at 191 ms, waited for 200 ms, {in_batch}"),
        ("label", "Batch 1 on instance 0: 3 requests, 3 rows, in the model from 391 ms until 395 ms, for 4 ms."),
        ("mark", "release go at 390 ms."),
        ("limit over", f"Bound for r0: {allowed}"),
    ]


@pytest.mark.parametrize(("observed", "stall", "ended"), [
    (250 * MS, MS, "kept"), (252 * MS, MS, "exceeded by no more than noise explains"), (254 * MS, MS, "exceeded")])
def test_a_bound_says_how_it_was_judged(observed: int, stall: int, ended: str) -> None:
    """In the three answers of the gate."""
    limit = Limit(0, 200 * MS, observed, 0, 50 * MS, stall)

    assert parts(replace(FAILED, limits=(limit,)))[-1][1].endswith(f": {ended}.")


def test_time_goes_from_left_to_right() -> None:
    """The first request begins at the left edge, and the delay of the oldest ends where time says so."""
    whole = span(FAILED)
    width = 714  # of WIDTH - LEFT - RIGHT
    at = LEFT + 200 * MS * width * 10 // whole / 10

    assert places(FAILED, "sent")[0] == f"M{LEFT} 37v10"
    assert places(FAILED, "delay") == [f"M{LEFT} 33H{at:g}M{at:g} 31v22"]  # of r0 alone, the oldest of its batch
    assert whole == 396 * MS * 102 // 100


def test_what_ended_badly_has_a_shape_of_its_own() -> None:
    """A cross for a refusal, and a question mark at the right edge for what was never answered."""
    picture = Lanes((Lane("r0", 0, 5 * MS, kind="expired"), Lane("r1", 0)), end_ns=20 * MS)

    assert len(places(picture, "bad")) == 1
    assert places(picture, "bad open") == [str(ASIDE - 14)]
    assert parts(picture)[1] == ("lane", "r1: sent at 0 ms, never answered.")


def test_a_crowd_stays_small() -> None:
    """Two thousand requests take no more room than a few, and the reader is told."""
    picture = cut(data(crowd(2000)), about=["r1500"])

    assert len(svg(picture, "a crowd")) < 24_000
    assert notes(picture, span(picture)) == (
        "1976 more requests of this drive are not drawn.", "The queue delay of 200 ms ends outside the picture."
    )  # fmt: skip


def test_a_batch_that_is_cut_says_so() -> None:
    """It had more requests than lanes."""
    picture = Lanes((Lane("r0", 0, 3),), (Block(1, (0,), 1, 2, requests=64, rows=64),))

    assert parts(picture)[-1][1].endswith("1 are drawn.")


def test_another_clock_leaves_only_the_clients_times() -> None:
    """No block is drawn, the batch is still named, and the reader is told."""
    picture = cut(data(replace(REARMED, same_clock=False)))

    assert places(picture, "frame") == []
    assert "in batch 1" in parts(picture)[1][1]
    assert NO_CLOCK in notes(picture, span(picture))


def test_a_delay_far_away_is_told_and_not_drawn() -> None:
    """An hour of delay would make everything else a line."""
    picture = replace(FAILED, delay_ns=3600 * 1000 * MS, limits=())

    assert places(picture, "delay") == []
    assert notes(picture, span(picture)) == ("The queue delay of 1 h ends outside the picture.",)


def test_what_happens_at_one_moment_is_drawn_in_order() -> None:
    """In simulated time a drive may take no time: the batches stand side by side, and the words keep the true times."""
    picture = Lanes((Lane("r0", 0, 0), Lane("r1", 0, 0)), (Block(1, (0,), 0, 0), Block(2, (1,), 0, 0)))

    first, second = (float(str(x)) for x in places(picture, "frame"))
    assert LEFT < first < second
    assert places(picture, "tick") == []
    assert parts(picture)[2][1] == "Batch 1 on instance 0: 1 request, 1 row, in the model from 0 ms until 0 ms, for 0 ms."
    assert notes(picture, span(picture)) == (ONE_MOMENT,)


def test_a_difference_is_marked() -> None:
    """The request or the batch at which two timelines part."""
    assert [kind for kind, _ in parts(FAILED, marked=("r1",))].count("lane marked") == 1
    assert 'class="block marked"' in svg(FAILED, "a picture", marked=("batch 1",))


def test_one_element_is_a_stop_of_the_tab_key() -> None:
    """The arrows go to the others."""
    assert svg(FAILED, "a picture").count('tabindex="0"') == 1


def test_hostile_names_are_text() -> None:
    """In elements and in attributes."""
    picture = Lanes((Lane(HOSTILE, 0, 1, kind=f'"{HOSTILE}'),), marks=((HOSTILE, 1),))

    made = svg(picture, f'"{HOSTILE}')

    assert "<script" not in made
    assert "\\u202e" in made
    assert not [letter for letter in "\x1b\x00\u202e" if letter in made]
    ET.fromstring(made)  # noqa: S314


NS = st.integers(-(1 << 62), 1 << 62)
TIMES = st.none() | NS


LANE = st.builds(Lane, st.text(max_size=9), NS, TIMES, TIMES, st.integers(0, 9), st.text(max_size=9), NS)
BLOCK = st.builds(Block, NS, st.just((0,)), TIMES, TIMES, NS, NS, NS, st.booleans())
LIMIT = st.builds(Limit, NS, NS, NS, st.sampled_from([None, 0]), NS, NS)


def several(one: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    """None, one, two or three of these."""
    return st.lists(one, max_size=3).map(tuple)


@given(st.builds(Lanes, st.lists(LANE, min_size=1, max_size=4).map(tuple), several(BLOCK), several(LIMIT),
                 several(st.tuples(NS, NS)), several(st.tuples(st.text(max_size=9), NS)), NS, NS, NS))  # fmt: skip
def test_whatever_a_report_says_is_drawn(drawn: Lanes) -> None:
    """Times before the start, batches that leave before they enter: the picture is odd, and it is XML."""
    ET.fromstring(svg(drawn, "a picture"))  # noqa: S314


@pytest.mark.parametrize(("ns", "text"), [(0, "0 ms"), (1_500_000, "1.5 ms"), (-400, "0 ms"), (123_456_789, "123.457 ms")])
def test_milliseconds(ns: int, text: str) -> None:
    """With microseconds."""
    assert ms(ns) == text
