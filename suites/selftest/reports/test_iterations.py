"""The picture of an engine's iterations."""

from __future__ import annotations

from batchproof.reports.iterations import LEGEND, NONE
from batchproof.suites.selftest.iterations import asked, ran, right

A, B = asked("a"), asked("b", at=1)
DRAWN = "a:0+2@1 | a:2+2@1 | a:4+1@1,2 b:0+4@3 | a:5+1@1,2 b:4+1!1@3,4"


def test_requests_are_lines_and_iterations_columns() -> None:
    """Prompts, their ends, next tokens, waiting, the last token and an entry out of place are told apart."""
    lines = ran(DRAWN, A, B).picture(60).splitlines()

    assert lines[0] == "a      pP.$"
    assert lines[1] == "b       ~P!"
    assert [line.split()[0] for line in lines[2:5]] == ["rows", "budget", "blocks"]
    assert lines[-1] == LEGEND[:60]


def test_more_than_allowed_is_marked() -> None:
    """A strip above its limit ends in a plus."""
    many = " ".join(f"r{number}:0+1" for number in range(5))

    picture = ran(many, *(asked(f"r{number}", 1, 1) for number in range(5))).picture(60)

    assert "rows   +" in picture


def test_a_wrong_text_is_in_sight() -> None:
    """Of a long run, the iterations around its first wrong token are shown, and its request first."""
    long = asked("long", 4, 27)
    others = [asked(f"r{number:02}") for number in range(20)]
    drawn = " | ".join(["long:0+4", *(f"long:{at}+1" for at in range(4, 30))])

    picture = ran(drawn, *others, long, texts={"long": (*right(long, 20), 1)}).picture(31)

    assert "long" in picture
    assert "iterations 3 to 26 of 27" in picture
    assert "... and 5 more" in picture


def test_whom_it_is_about_is_in_sight() -> None:
    """With nothing else that tells where to look, the iterations since the first of them arrived are shown."""
    crowd = [asked(f"r{at:02}", 4, 1, at=at) for at in range(40)]
    found = ran(" | ".join(f"{one.name}:0+4" for one in crowd), *crowd)

    lines = found.picture(20, ("r30", "r31")).splitlines()

    assert [line.split()[0] for line in lines[:16]] == [f"r{at}" for at in range(23, 39)]
    assert "iterations 24" in "\n".join(lines)
    assert lines[7] == "r30          P"
    assert found.picture(20, at=39).splitlines()[16] == f"{'':7}{'':12}^"
    assert "^" not in found.picture(20, at=40)


def test_without_iterations_the_ends_are_told() -> None:
    """An engine that shows nothing inside has a picture, too."""
    picture = ran("", A, texts={"a": right(A)}, ends={"a": ("length",)}).picture(60)

    assert picture.splitlines() == ["a      4 tokens, 3 back, length", NONE]


def test_nothing_was_sent() -> None:
    """That is said."""
    assert ran("").picture(60) == "(no request was sent)"
