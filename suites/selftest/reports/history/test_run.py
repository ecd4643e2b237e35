"""Runs under test: what cannot be is refused, and no credential is kept."""

from __future__ import annotations

import pytest

from batchproof.reports.figures import Figure
from batchproof.reports.history import Commit, HistoryError, Host
from batchproof.reports.history.run import moment, seconds_of
from batchproof.suites.selftest.reports.history.samples import HOST, run


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"kind": "bnech"}, "'bnech' is not a kind of run: bench, check, imported"),
        ({"figures": ()}, "a run without figures"),
        ({"figures": (Figure("a", 1, "1", "higher"),) * 2}, "a occurs twice in one run"),
        ({"figures": (Figure("a", 1, "1", "higher", n=2**63),)}, f"n of a is {2**63}"),
        ({"when": -1}, "the time of the run is -1"),
        ({"when": 10**12}, "the time of the run is 1000000000000"),
    ],
)
def test_what_cannot_be_is_refused(more: dict[str, object], words: str) -> None:
    """The message names the field."""
    with pytest.raises(HistoryError) as caught:
        run(**more)

    assert str(caught.value) == words


@pytest.mark.parametrize("sha", ["", "main", "--all", "A" * 40, "a" * 6, "a" * 65])
def test_a_commit_is_a_hash(sha: str) -> None:
    """A name of git's is not kept: it would be another commit tomorrow."""
    with pytest.raises(HistoryError, match="is not the hash of a commit"):
        Commit(sha, 1)


def test_no_credential_is_kept() -> None:
    """What a target's address or a command says of users and passwords is taken out; the address stays."""
    found = run(target="grpc://me:secret@host:8001", version="https://token@host/x", about={"command": "x http://u:p@h/ y"})

    assert (found.target, found.version, found.about["command"]) == ("grpc://host:8001", "https://host/x", "x http://h/ y")


def test_names_are_one_short_line() -> None:
    """Whatever a hostile target calls itself, no terminal obeys it and no column overflows."""
    found = run(target="\x1b[31mred\n" * 200)

    assert (found.target[:8], len(found.target) <= 200, "\n" in found.target) == ("red red ", True, False)


def test_the_key_is_that_of_the_measurement() -> None:
    """Neither the commit nor the command nor the order of the figures makes another run of it; all else does."""
    one = run(1)

    assert run(1, commit=None, about={}, figures=one.figures[::-1]).key == one.key
    assert len({one.key, run(1, 101.0).key, run(1, when=one.when + 1).key, run(1, version="2").key}) == 4


def test_a_host_is_its_hardware() -> None:
    """A new kernel or Python is something to be seen, and not another machine."""
    assert Host({**HOST.facts, "kernel": "7.0", "python": "3.14"}).fingerprint == HOST.fingerprint
    assert Host({**HOST.facts, "cpus": 4}).fingerprint != HOST.fingerprint
    assert (Host().fingerprint, Host({"fingerprint": "abc"}).fingerprint) == ("unknown", "abc")


@pytest.mark.parametrize(
    "text", ["2023-11-14T22:13:20Z", "2023-11-14T22:13:20", "2023-11-14T23:13:20+01:00", "2023-11-14T22:13:20.000001+00:00"]
)
def test_times_are_utc(text: str) -> None:
    """A time without a zone counts as UTC."""
    assert (seconds_of(text), moment(1_700_000_000)) == (1_700_000_000, "2023-11-14T22:13:20Z")
