"""`batchproof history prune` under test: it does nothing that it was not told twice."""

from __future__ import annotations

import pytest

from batchproof.reports.history.queries import numbers
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.reports.history.samples import run

STORE = "reports/history.sqlite"


@pytest.fixture(autouse=True)
def _five() -> None:
    """A history of five runs."""
    with opened(STORE, create=True) as store:
        list(add(store, [run(number, target="odd" if number % 2 else "even") for number in range(1, 6)]))


def left() -> list[int]:
    """Return the numbers of the runs that are there."""
    with opened(STORE) as store:
        return numbers(store)


@pytest.mark.parametrize(
    ("options", "stays"),
    [
        (("--keep", "2"), [4, 5]),
        (("--run", "2", "--run", "5"), [1, 3, 4]),
        (("--before", "2023-11-15T00:13:20Z"), [2, 3, 4, 5]),
        (("--target", "odd"), [2, 4]),
        (("--target", "odd", "--keep", "1"), [2, 4, 5]),
        (("--branch", "gone"), [1, 2, 3, 4, 5]),
    ],
)
def test_what_is_asked_goes_after_yes(
    options: tuple[str, ...], stays: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    """Without it, only how many would go is said."""
    status, out, _ = invoke(capfd, "history", "prune", *options)

    assert (status, left(), "would be removed; --yes removes" in out) == (0, [1, 2, 3, 4, 5], True)
    assert invoke(capfd, "history", "prune", *options, "--yes")[0] == 0
    assert left() == stays


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "say what to remove: --run, --before, --target, --branch or --keep"),
        (("--run", "2", "--run", "77"), "there is no run 77"),
        (("--before", "soon"), "--before soon: not a date such as 2026-11-23"),
    ],
)
def test_what_makes_no_sense_removes_nothing(
    options: tuple[str, ...], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The message says what would."""
    status, _, err = invoke(capfd, "history", "prune", *options, "--yes")

    assert (status, left()) == (2, [1, 2, 3, 4, 5])
    assert words in one_message(err)
