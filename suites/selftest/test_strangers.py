"""Batchers that nobody here has seen: each faulty one is killed by the rule that names its fault, and no right one fails.

Here each of the first series, and a part of the second, meets the rules that name faults of its style. With
BATCHPROOF_NIGHTLY=1 each of both meets all that its style claims, which takes half an hour;
`python -m batchproof.suites.selftest.strangers.exam` prints the same as a table.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from batchproof.commands.mutants import pool
from batchproof.fixtures.judging.catalogue import rules
from batchproof.suites.selftest.strangers.crossed import CROSSED, RIGHT_CROSSED
from batchproof.suites.selftest.strangers.exam import Verdict, judge, table
from batchproof.suites.selftest.strangers.histories import FORTY, RIGHT_TOO
from batchproof.suites.selftest.strangers.inside import INSIDE, RIGHT_INSIDE
from batchproof.suites.selftest.strangers.mixtures import MIXTURES, RIGHT_IN_MIXTURES
from batchproof.suites.selftest.strangers.outlived import OUTLIVED, RIGHT_OUTLIVED
from batchproof.suites.selftest.strangers.promises import PROMISES, RIGHT_AS_PROMISED
from batchproof.suites.selftest.strangers.retiring import RETIRING, RIGHT_RETIRING
from batchproof.suites.selftest.strangers.states import STATES
from batchproof.suites.selftest.strangers.stranger import Stranger
from batchproof.suites.selftest.strangers.table import FAULTY, RIGHT, STRANGERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NIGHTLY = bool(os.environ.get("BATCHPROOF_NIGHTLY"))
ALWAYS = (  # of the second series: quick ones, of every style; of the third: those that one rule names
    "hidden-by-cancelled", "sooner-unnoticed", "one-slot-short", "cancelled-fill", "carry-to-the-back", "rest-dropped",
    "only-first-told", "short-key", "counts-twice", "never-forgotten", "grows-wrong", "wraps-around",
    "instance-freed-twice", "results-uncounted",
    "stale-timer", "barging", "window-closes-for-good", "deaf-after-failure", "dozes-off", "second-stays",
    "outlived-keeps-place",
)  # fmt: skip
BY_CHANCE = ("passes-over", "loses-counts", "overwrites")  # a race of threads is seen in most runs, and not in all
WITH_NODE = shutil.which("node") is not None
SERIES = (*FAULTY, *FORTY, *STATES, *PROMISES, *CROSSED, *MIXTURES, *INSIDE, *OUTLIVED, *RETIRING)
KILLED = [one for one in SERIES
          if one.kills and (NIGHTLY or one in (*FAULTY, *PROMISES, *CROSSED, *INSIDE, *RETIRING) or one.name in ALWAYS)
          and one.name not in BY_CHANCE and (WITH_NODE or one.style != "flush")]
EVERY_RIGHT = (
    *RIGHT, *RIGHT_TOO, *RIGHT_AS_PROMISED, *RIGHT_CROSSED, *RIGHT_IN_MIXTURES, *RIGHT_INSIDE, *RIGHT_OUTLIVED,
    *RIGHT_RETIRING,
)  # fmt: skip
ALL_RIGHT = tuple(one for one in EVERY_RIGHT if WITH_NODE or one.style != "flush")


def named(stranger: Stranger) -> tuple[str, ...]:
    """Return the rules to judge it by: those that name it, or for a right one those that name any fault of its style.

    Of these, a variant of another right one meets a quarter.
    """
    if NIGHTLY:
        return ()
    if stranger.kills:
        return stranger.kills
    chosen = [{rule for one in ones if one.style == stranger.style for rule in one.kills} for ones in (KILLED, SERIES)]
    mine = tuple(sorted(chosen[0] or chosen[1]))
    original = next(one for one in ALL_RIGHT if one.style == stranger.style)
    quarter = tuple(rule for rule in mine if not crc32(f"{stranger.name} {rule}".encode()) % 4)
    return mine if stranger is original else quarter


@pytest.fixture(scope="module")
def verdict(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Verdict]]:
    """Judge all that are selected, several at a time because they mostly wait; return the verdict on one."""
    wanted = {item.callspec.params.get("name") for item in request.session.items if hasattr(item, "callspec")}
    with pool(3) as workers:
        chosen = (one for one in (*ALL_RIGHT, *KILLED) if one.name in wanted)
        judged = {one.name: workers.submit(judge, one.name, named(one)) for one in chosen}
        yield lambda name: judged[name].result()
        workers.shutdown(cancel_futures=True)


@pytest.mark.timeout(1800 if NIGHTLY else 240)
@pytest.mark.parametrize("name", [one.name for one in ALL_RIGHT])
def test_a_right_batcher_fails_nothing(verdict: Callable[[str], Verdict], name: str) -> None:
    """The batcher that the faults of a style are put into is right, so a kill is due to the fault."""
    assert verdict(name).killed_by == ()


@pytest.mark.timeout(1800 if NIGHTLY else 240)
@pytest.mark.parametrize("name", [one.name for one in KILLED])
def test_a_faulty_batcher_is_killed_by_the_rule_that_names_its_fault(verdict: Callable[[str], Verdict], name: str) -> None:
    """Each rule that names its fault fails, and no other does that neither follows from these nor is broken as well."""
    one = verdict(name)

    assert (one.missing, one.wrongly) == ((), ()), one.said


def test_every_fault_cites_a_thread_of_its_own() -> None:
    """Each faulty batcher cites an issue or a pull request of a real project, and says which requirement it breaks.

    Those of one series cite one thread each.
    """
    faulty = (*FAULTY, *FORTY, *MIXTURES)
    threads = [one.cites for one in faulty]
    apart = [len({one.cites for one in series}) for series in ((*FAULTY, *FORTY), MIXTURES)]

    assert (len(FAULTY), len(FORTY), len(MIXTURES), apart) == (55, 40, 27, [95, 27])
    assert [url for url in threads if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", url)] == []
    assert [one.name for one in faulty if not one.breaks or not (one.batcher.__doc__ or "").strip()] == []


def test_names_and_rules_exist() -> None:
    """No two strangers have one name, and the rules that are expected to fail are in the catalogue."""
    assert len(STRANGERS) == len(EVERY_RIGHT) + len(SERIES)
    assert {rule for one in SERIES for rule in (*one.kills, *one.also)} <= set(rules())


@pytest.mark.parametrize(
    ("said", "follows", "row"),
    [
        ({"DB-LIVE-002": "FAIL r0: no answer"}, {}, "| lost-wakeup | DB-LIVE-002 | - | 0 | 0 | 2 rules |"),
        ({}, {}, "| lost-wakeup | **survives** | - | 0 | 0 | 2 rules |"),
        ({"DB-LIVE-002": "FAIL", "DB-CACHE-001": "FAIL"}, {},
         "| lost-wakeup | DB-LIVE-002 | DB-CACHE-001 | 0 | 0 | 2 rules |"),
        ({"DB-LIVE-002": "FAIL", "DB-LAW-004": "FAIL", "DB-LIVE-005": "ERROR"}, {"DB-LAW-004": "DB-LIVE-002"},
         "| lost-wakeup | DB-LIVE-002 | - | 1 | 1 | 2 rules |"),
    ],
    ids=["killed", "survives", "wrongly", "follows"],
)
def test_the_table_says_how_each_exam_ended(said: dict[str, str], follows: dict[str, str], row: str) -> None:
    """What follows from a rule, and what could not be judged, is told apart from what killed it."""
    assert list(table([Verdict("lost-wakeup", 2, said, follows)]))[2:] == [row]
