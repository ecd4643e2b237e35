"""What git is asked, under test on a small repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.commands.history.git import Repository
from batchproof.suites.selftest.commands.history.conftest import Checkout


def test_commits_between_two_are_listed_in_order(checkout: Checkout) -> None:
    """Without the first and with the last; None if one is not made from the other, or is not there."""
    first, second, third = checkout.commits
    repository = Repository(checkout.folder)

    assert repository.between(first, third) == (second, third)
    assert repository.between(second, second) == ()
    assert repository.between(third, first) is None
    assert repository.between("0" * 40, third) is None


def test_commits_are_put_in_order(checkout: Checkout) -> None:
    """None comes before its parents, whatever their times are."""
    first, second, third = checkout.commits
    repository = Repository(checkout.folder)
    found = repository.in_order([third, first, second])

    assert found is not None
    assert sorted([third, first, second], key=found.__getitem__) == checkout.commits
    assert repository.in_order([first, "0" * 40]) is None
    assert repository.in_order([]) == {}


def test_a_detached_checkout_has_the_branch_that_ci_names(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """CI systems check out a commit and no branch."""
    checkout.git("checkout", "-q", "--detach")
    before = Repository(checkout.folder).checked_out()
    monkeypatch.setenv("GITHUB_REF_NAME", "release")
    after = Repository(checkout.folder).checked_out()

    assert before is not None
    assert after is not None
    assert (before.branch, after.branch) == ("", "release")


def test_what_is_no_repository_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is there one where git is not installed."""
    assert Repository(Path("/")).checked_out() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Repository(tmp_path).checked_out() is None


def test_the_first_line_of_a_message(checkout: Checkout) -> None:
    """Empty for a commit that git does not know."""
    assert Repository(checkout.folder).subject(checkout.commits[1]) == "second"
    assert Repository(checkout.folder).subject("0" * 40) == ""
