"""The schemas under test: each is valid and closed, and a misfit is explained in words."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from batchproof.reports.formats import ab, bench, bundle, history, hunt, report, truth
from batchproof.reports.formats.schemas import flaw, schema, version, words

NAMES = (ab.NAME, bench.NAME, bundle.NAME, history.NAME, hunt.NAME, report.NAME, truth.NAME)
VERSIONED = {bundle.NAME: "bundle", truth.NAME: "table"}


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_and_has_a_version(name: str) -> None:
    """It conforms to the draft that it names, and its version is a number."""
    jsonschema.Draft202012Validator.check_schema(schema(name))

    assert version(name, VERSIONED.get(name, "header")) >= 1


def test_every_schema_has_a_reader() -> None:
    """There is no schema that no module reads."""
    found = [path.name for path in files("batchproof.reports.formats").iterdir() if path.name.endswith(".json")]

    assert sorted(found) == sorted(f"{name}.schema.json" for name in NAMES)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"seed": "x"}, "'seed' is not an integer"),
        ({"seed": True}, "'seed' is not an integer"),
        ({"config": 5}, "'config' is not an object or null"),
        ({"target": {"name": "x"}}, "'target' lacks 'version', 'reached', 'contact', 'sight', 'claims'"),
        ({"more": 1, "most": 2}, "it has unknown fields: 'more', 'most'"),
        ({"format": 2}, "'format': 1 was expected"),
        ({"judgement": {"verdict": ["\x1b[31m" * 500]}}, "'judgement' lacks 'expected', 'actual'"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_misfit_is_explained_in_words(change: dict[str, Any], words: str) -> None:
    """The message has the place and what is wrong there, in one line without control characters."""
    target = {"name": "x", "version": "1", "reached": "x", "contact": "", "sight": "wire", "claims": {}}
    whole = {"format": 1, "batchproof": "1", "rule": "R", "kind": "timeline", "evidence": {}, "target": target, "seed": 1,
             "config": None, "judgement": {"verdict": "FAIL", "expected": "", "actual": ""}}

    assert flaw("bundle", "bundle", whole | change) == words


def test_too_few_entries_are_counted() -> None:
    """A list that is too short is not printed whole: its length says enough."""
    assert flaw("truth", "table", {"truth": [{}] * 3}) == "'truth' has 3 of the 12 entries that it needs"


def test_long_values_are_cut() -> None:
    """A value of a megabyte does not make a message of a megabyte."""
    assert len(flaw("report", "verdict", "x" * 1_000_000)) < 700


def test_words_come_in_the_order_of_the_schema() -> None:
    """The best verdict comes first."""
    assert words("report", "verdict")[0] == "PASS"
    assert words("report", "verdict")[-1] == "ERROR"
