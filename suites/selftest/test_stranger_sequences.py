"""Batchers of sequences that the rules were not written for: the rule that names a fault kills it, and no right one fails.

Here a faulty one meets the rules that name its fault, and a right one the rules that name any fault of its design. With
BATCHPROOF_NIGHTLY=1 each meets all that it claims; `python -m batchproof.suites.selftest.strangers.exam sequences` prints a
table.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from batchproof.commands.mutants import pool
from batchproof.fixtures.judging.catalogue import rules
from batchproof.suites.selftest.strangers.exam import Verdict, judge
from batchproof.suites.selftest.strangers.sequences.table import SEQUENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NIGHTLY = bool(os.environ.get("BATCHPROOF_NIGHTLY"))
RIGHT = [name for name, one in SEQUENCES.items() if not one.breaks]
FAULTY = [name for name, one in SEQUENCES.items() if one.breaks]
KILLED = [name for name in FAULTY if SEQUENCES[name].kills]


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
    style = SEQUENCES[name].style
    return SEQUENCES[name].kills or tuple({rule for one in KILLED if SEQUENCES[one].style == style
                                           for rule in SEQUENCES[one].kills})  # fmt: skip


@pytest.mark.timeout(1800 if NIGHTLY else 300)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_batcher_fails_nothing(verdict: Callable[[str], Verdict], name: str) -> None:
    """Whatever its design: what its claims allow is not condemned."""
    assert verdict(name).killed_by == ()


@pytest.mark.timeout(1800 if NIGHTLY else 300)
@pytest.mark.parametrize("name", KILLED)
def test_a_faulty_batcher_is_killed_by_the_rule_that_names_its_fault(verdict: Callable[[str], Verdict], name: str) -> None:
    """Each rule that names its fault fails, and no other does that neither follows from these nor is broken as well."""
    one = verdict(name)

    assert (one.missing, one.wrongly) == ((), ()), one.said


def test_every_fault_cites_a_thread() -> None:
    """Each faulty batcher cites a thread of a real project, says which requirement it breaks, and names rules that exist."""
    faulty = [SEQUENCES[name] for name in FAULTY]

    assert (len(RIGHT), len(FAULTY), len({one.cites for one in faulty})) == (2, 18, 18)
    assert [one for one in faulty if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/issues/\d+", one.cites)] == []
    assert {rule for one in faulty for rule in (*one.kills, *one.also)} <= set(rules())
