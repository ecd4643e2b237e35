"""ab.md: what the page says about each kind of answer, and that nothing in it becomes markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from batchproof.reports import ab_markdown
from batchproof.reports.formats.ab import AbWriter, read
from batchproof.suites.selftest.reports.formats.test_ab import ANSWER, HEAD, PAIR, SIDE

if TYPE_CHECKING:
    from pathlib import Path

NONE = {"estimate": None, "low": None, "high": None, "confidence": 0.99}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "mean throughput: -5.0 % against the base (between -6.0 % and -4.0 %; 10 pairs in 8 s)"),
        ({"answer": "INVALID", "why": "new did not answer 3 of 9 requests"},
         "mean throughput: new did not answer 3 of 9 requests"),
        ({"answer": "UNPROVEN", "ratio": NONE, "pairs": 2},
         "mean throughput: 2 pairs in 8 s prove nothing, because an interval needs more"),
    ],
)  # fmt: skip
def test_an_answer_is_a_sentence(change: dict[str, Any], said: str) -> None:
    """With the size of the change and its bounds, or the reason why there is none."""
    assert ab_markdown.sentence({**ANSWER, **change}) == said


def page(folder: Path, *, reason: str = "", **header: Any) -> str:
    """Write a comparison, and return its page."""
    writer = AbWriter(folder)
    writer.header(**{**HEAD, **header})
    writer.pair({**PAIR, "dropped": "base: the host stalled for 60% of it"})
    writer.answer(ANSWER)
    writer.footer(1, complete=not reason, reason=reason)
    return ab_markdown.write(folder).read_text(encoding="utf-8")


def test_the_page_says_who_and_what(tmp_path: Path) -> None:
    """The sides with their revisions, the pairs that were dropped, and how it was run."""
    text = page(tmp_path, base={**SIDE, "revision": "main", "commit": "0123456789abcdef"})

    assert "# x against x" in text
    assert "- **SLOWER**: mean throughput" in text
    assert "revision main (0123456789ab)" in text
    assert "- saturated pair 0: base: the host stalled for 60% of it" in text
    assert "24 clients, 300 requests a block" in text
    assert "> **Ended early**" not in text


def test_an_early_end_comes_first(tmp_path: Path) -> None:
    """Before any figure."""
    text = page(tmp_path, reason="new: its process ended by signal 9")

    assert text.index("> **Ended early**: new: its process ended by signal 9") < text.index("SLOWER")


def test_without_a_footer_it_is_truncated(tmp_path: Path) -> None:
    """It was killed."""
    writer = AbWriter(tmp_path)
    writer.header(**HEAD)
    writer.close()

    assert "> **Truncated.**" in ab_markdown.to_markdown(read(tmp_path))


def test_what_a_target_says_is_text(tmp_path: Path) -> None:
    """No markup, no HTML, no new cell."""
    text = page(tmp_path, new={**SIDE, "target": "<script>|[x](y)\n# z", "version": "`*`"})

    assert "<script>" not in text
    assert "[x](y)" not in text.replace("\\[", "")
    assert "\n# z" not in text
