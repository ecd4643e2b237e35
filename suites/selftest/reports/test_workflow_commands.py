"""Workflow commands: what GitHub reads in the output of a job."""

from __future__ import annotations

from batchproof.reports.workflow_commands import annotation


def test_a_place_and_a_title() -> None:
    """What is not given is left out."""
    one = annotation("error", "wrong", file="a.txt", line=3, column=1, title="X-1")

    assert one == "::error file=a.txt,line=3,col=1,title=X-1::wrong"
    assert annotation("notice", "fine") == "::notice::fine"


def test_nothing_ends_a_command_early() -> None:
    """Line ends, commas and colons in values are escaped as GitHub's own toolkit escapes them."""
    one = annotation("warning", "a\r\n::error::b%0A", title="x,file=b::c", file="d\n::e")

    assert one == "::warning file=d%0A%3A%3Ae,title=x%2Cfile=b%3A%3Ac::a%0D%0A::error::b%250A"
