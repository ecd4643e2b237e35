"""What may have made a change, under test on a small repository."""

from __future__ import annotations

import pytest

from batchproof.commands.history.git import Repository
from batchproof.commands.history.suspects import between, differences
from batchproof.reports.history.queries import Point
from batchproof.suites.selftest.commands.history.conftest import Checkout


def point(commit: str, *, dirty: bool = False, version: str = "1") -> Point:
    """Return a point of this commit."""
    return Point(1, commit, dirty, "main", 1_700_000_000, version, 1.0, None, None, 1, True)


def test_this_commit(checkout: Checkout) -> None:
    """Its parent was measured, too."""
    first, second, _ = checkout.commits
    found = between(Repository(checkout.folder), point(first), point(second))

    assert (found.commits, found.exact, found.says) == ((second,), True, (f"this commit: {second[:10]} second",))


def test_somewhere_in_these_commits(checkout: Checkout) -> None:
    """The ones between were not measured; where they are many, the middle is left out."""
    few = between(Repository(checkout.folder), point(checkout.commits[0]), point(checkout.commits[2]))
    for number in range(8):
        checkout.commit(f"more {number}")
    many = between(Repository(checkout.folder), point(checkout.commits[0]), point(checkout.commits[-1]))

    assert (few.commits, few.exact) == (tuple(checkout.commits[1:3]), False)
    assert few.says[0] == "somewhere in these 2 commits, of which only the last was measured:"
    assert [line.split()[1:] for line in few.says[1:]] == [["second"], ["third"]]
    assert many.commits == tuple(checkout.commits[1:])
    assert len(many.says) == 7
    assert many.says[5] == "  ... 5 more ..."
    assert many.says[6].endswith("more 7")


def test_runs_that_vary_leave_several_commits(checkout: Checkout) -> None:
    """They were measured, and yet none can be picked."""
    found = between(Repository(checkout.folder), point(checkout.commits[0]), point(checkout.commits[2]), adjacent=False)

    assert found.exact is False
    assert found.says[0] == "somewhere in these 2 commits, because runs vary too much to tell which:"


def test_no_commit_at_all(checkout: Checkout) -> None:
    """Two runs of one commit differ by something else."""
    (first, *_) = checkout.commits
    same = between(Repository(checkout.folder), point(first), point(first, version="2"))
    dirty = between(Repository(checkout.folder), point(first), point(first, dirty=True))

    assert (same.commits, same.exact) == ((), False)
    assert same.says == (f"not a commit: both runs measured {first[:10]} first", "the target's version changed from 1 to 2")
    assert dirty.says == (f"changes that were not committed on top of {first[:10]} first",)


def test_changes_that_were_not_committed_leave_a_doubt(checkout: Checkout) -> None:
    """It may be the commit, and it may be they."""
    found = between(Repository(checkout.folder), point(checkout.commits[0]), point(checkout.commits[1], dirty=True))

    assert (found.exact, found.says[1]) == (False, "there were changes that were not committed")


def test_software_that_changed_is_told(checkout: Checkout) -> None:
    """A new kernel may be the cause, and not the commit; what one of the two does not know is no difference."""
    before = {"kernel": "6.1", "numpy": "1.26", "command": "a"}
    after = {"kernel": "6.2", "numpy": "1.26", "command": "b", "torch": "2"}
    told = differences(before, after)
    found = between(Repository(checkout.folder), point(checkout.commits[0]), point(checkout.commits[1]), told)

    assert told == ["kernel changed from 6.1 to 6.2"]
    assert found.says[1:] == ("kernel changed from 6.1 to 6.2",)


@pytest.mark.parametrize("commits", [("", ""), ("0" * 40, "1" * 40)])
def test_what_git_does_not_know(checkout: Checkout, commits: tuple[str, str]) -> None:
    """There is still the time, or the two hashes."""
    found = between(Repository(checkout.folder), point(commits[0]), point(commits[1]))

    assert (found.commits, found.exact) == (None, False)
    assert found.says[0].startswith("between ")
