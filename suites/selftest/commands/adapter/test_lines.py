"""The table of adapters in docs/adapters.md, counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.commands.adapter.lines import STACKS, adapter_lines, code_lines, row

PAGE = Path(__file__).parents[4] / "docs" / "adapters.md"
FEW = 5
SOURCE = b'''"""Doc."""

import os

CLAIMS = {
    "delay": True,
}


def join():  # why
    """Doc
    string."""
    return os.path.join("a",
                        "b")
'''


def test_lines_are_counted(tmp_path: Path) -> None:
    """Only code counts, a statement over two lines counts twice, and claims are not code."""
    (tmp_path / "adapter.py").write_bytes(SOURCE)

    assert sorted(code_lines(SOURCE)) == [5, 6, 7, 10, 13, 14]
    assert adapter_lines(tmp_path / "adapter.py") == 3


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs here: the documentation is not installed")
@pytest.mark.parametrize("stack", STACKS)
def test_the_page_has_the_lines_of_every_adapter(stack: str) -> None:
    """To within a few lines; `batchproof lab adapter-lines` prints the rows as they are now."""
    wanted = row(stack, STACKS[stack])
    head, _, counted = wanted.removesuffix(" |").rpartition("| ")
    (shown,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(head)]
    numbers = shown.removesuffix(" |").rpartition("| ")[2]

    differences = [abs(int(one) - int(two)) for one, two in zip(numbers.split("+"), counted.split("+"), strict=True)]
    assert max(differences) <= FEW, wanted
