"""The page about upstream's tests: it names only existing rules, all of the batcher's rules, and a reason for each gap."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from batchproof.fixtures.judging.catalogue import rules

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
RULE = re.compile(r"\b(?:DB|CFG|PERF|SB|CU|DP)-[A-Z]+-\d{3}\b")
REASON = re.compile(r"^not covered: \S.{8,}$")

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs/coverage.md here: the documentation is not installed")


@cache
def page() -> str:
    """Return the text of the page."""
    return PAGE.read_text(encoding="utf-8")


def rows() -> list[tuple[str, ...]]:
    """Return every row of every table, as cells, without the heads."""
    lines = page().splitlines()
    heads = {number - 1 for number, line in enumerate(lines) if line.startswith("|---")}
    tables = [line for number, line in enumerate(lines) if line.startswith("|") and {number, number - 1}.isdisjoint(heads)]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in tables]


def test_named_rules_exist() -> None:
    """Every rule id on the page is in the catalogue, and every id is written out."""
    assert sorted(set(RULE.findall(page())) - set(rules())) == []
    assert re.findall(r"\b(?:DB|CFG|PERF|SB|CU|DP)-(?![A-Z]+-\d{3}\b)\S*", page()) == []


def test_every_rule_of_the_batcher_is_named() -> None:
    """Every rule about the dynamic batcher is somewhere on the page."""
    batcher = [rule for rule in rules() if rule.startswith("DB-")]

    assert [rule for rule in batcher if rule not in RULE.findall(page())] == []


def test_every_row_has_a_rule_or_a_reason() -> None:
    """The last cell of a row begins with a rule, or says that there is none and why."""
    answers = {row: row[-1] for row in rows()}

    assert len(answers) > 100
    assert [row for row, answer in answers.items() if not (RULE.match(answer) or REASON.match(answer))] == []


def test_every_row_is_whole() -> None:
    """A row has as many cells as its table has columns: two or three, none of them empty."""
    assert [row for row in rows() if len(row) not in {2, 3} or not all(row)] == []


def test_partial_coverage_begins_with_partly() -> None:
    """The words after the rules begin with `partly`, so that gaps can be searched for."""
    remarks = [row[-1].partition("; ")[2] for row in rows() if RULE.match(row[-1])]

    assert [remark for remark in remarks if remark and not remark.startswith("partly")] == []


def test_no_test_is_listed_twice() -> None:
    """Each of upstream's tests has one row."""
    names = [row[0] for row in rows() if len(row) == 3]

    assert sorted(name for name in set(names) if names.count(name) > 1) == []
