"""The page of claims: it is printed from the table and the catalogue, and it is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.commands.claims import markdown
from batchproof.fixtures.judging.catalogue import rules
from batchproof.targets.claims import CLAIMS

PAGE = Path(__file__).parents[3] / "docs" / "claims.md"


def test_every_claim_and_need_is_on_the_page() -> None:
    """Nothing that can be claimed, and nothing that a rule needs, is left out."""
    page = markdown()

    assert [name for name in CLAIMS if f"`{name}`" not in page] == []
    assert [need for rule in rules().values() for need in rule.needs if f"`{need.replace('|', ' or ')}`" not in page] == []


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs/claims.md here: the documentation is not installed")
def test_the_page_is_what_the_command_prints() -> None:
    """If this fails: `batchproof rules --claims > docs/claims.md`."""
    assert PAGE.read_text(encoding="utf-8") == markdown() + "\n"
