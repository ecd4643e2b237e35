"""Engines that the rules were not written for: the rule that names a fault kills it, and no right engine fails.

Here a faulty one meets the rules that name its fault, and a right one a quarter of the rules that do not take seconds. With
BATCHPROOF_NIGHTLY=1 each meets all that it claims; `python -m batchproof.suites.selftest.strangers.exam engines` prints the
same as a table.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from batchproof.commands.mutants import pool
from batchproof.fixtures.judging.catalogue import rules
from batchproof.suites.selftest.strangers.engines.adapter import EngineTarget
from batchproof.suites.selftest.strangers.engines.table import ENGINES
from batchproof.suites.selftest.strangers.exam import Verdict, judge
from batchproof.targets.claims import unmet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NIGHTLY = bool(os.environ.get("BATCHPROOF_NIGHTLY"))
SLOW = ("CB-LAW-", "CB-LIVE-003", "CB-LIVE-004", "CB-LIVE-008", "CB-TEXT-015", "CB-TEXT-013", "CB-PRIO-005")
QUICK = tuple(rule for rule in rules() if rule.startswith("CB-") and not rule.startswith(SLOW))
EVERY_DRIVE = "CB-LAW-010"
RIGHT = [name for name, one in ENGINES.items() if not one.breaks]
FAULTY = [name for name, one in ENGINES.items() if one.breaks]
KILLED = [name for name in FAULTY if ENGINES[name].kills]


@pytest.fixture(scope="module")
def verdict() -> Iterator[Callable[[str], Verdict]]:
    """Judge all of them, two at a time; return the verdict on one."""
    with pool(2) as workers:
        judged = {name: workers.submit(judge, name, _rules(name)) for name in (*RIGHT, *KILLED)}
        yield lambda name: judged[name].result()
        workers.shutdown(cancel_futures=True)


def _rules(name: str) -> tuple[str, ...]:
    if NIGHTLY:
        return ()
    claimed = EngineTarget(name).info.claims
    quick = tuple(rule for rule in QUICK if not unmet(claimed, rules()[rule].needs))
    if EVERY_DRIVE in ENGINES[name].kills:  # it looks at the drives of the others
        return (*quick, EVERY_DRIVE)
    quarter = tuple(rule for rule in quick if not crc32(f"{name} {rule}".encode()) % 4)
    return ENGINES[name].kills or quarter


@pytest.mark.timeout(1800 if NIGHTLY else 240)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_engine_fails_nothing(verdict: Callable[[str], Verdict], name: str) -> None:
    """Whatever its design: what its claims allow is not condemned."""
    assert verdict(name).said == {}


@pytest.mark.timeout(1800 if NIGHTLY else 240)
@pytest.mark.parametrize("name", KILLED)
def test_a_faulty_engine_is_killed_by_the_rule_that_names_its_fault(verdict: Callable[[str], Verdict], name: str) -> None:
    """Each rule that names its fault fails, and no other does that neither follows from these nor is broken as well."""
    one = verdict(name)

    assert (one.missing, one.wrongly) == ((), ()), one.said


def test_every_fault_cites_a_thread() -> None:
    """Each faulty engine cites an issue or a pull request of a real project, and its class says what is wrong."""
    threads = [ENGINES[name].cites for name in FAULTY]

    assert (len(RIGHT), len(FAULTY)) == (40, 106)
    assert [url for url in threads if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", url)] == []
    assert [name for name, one in ENGINES.items() if not (one.batcher.__doc__ or "").strip()] == []
    assert {rule for one in ENGINES.values() for rule in (*one.kills, *one.also)} <= set(rules())
