"""Badges: they say what the report's sentence says, and no more."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from batchproof.reports import Report
from batchproof.reports.site.badge import COLOURS, Badge, badge, to_json, to_svg
from batchproof.suites.selftest.report_lines import HOSTILE, footer, header, result

CORE = [result("DB-A-001"), result("DB-A-002")]


def report(*results: dict[str, Any], must: dict[str, int] | None = None, status: int = 0, **fields: Any) -> Report:
    """Return a whole report of these results."""
    head = header(rules=[line["rule"] for line in results], must_rules=must or {"CORE": 2}, **fields)
    return Report(head, (), results, footer(exit_status=status))


PREF = result("DB-B-001", profile="TRITON-DB")
LACKS = result("DB-A-002", "UNSUPPORTED", without="a queue delay")
LONG = result("DB-A-002", "UNSUPPORTED", without="batches that grow while the model is busy")


@pytest.mark.parametrize(
    ("found", "message", "kind"),
    [
        (report(*CORE), "conformant to CORE", "kept"),
        (report(*CORE, PREF, must={"CORE": 2, "TRITON-DB": 1}), "conformant to CORE and 1 more profile", "kept"),
        (report(CORE[0], result("DB-A-002", "KNOWN")), "conformant to CORE, 1 known issue", "in part"),
        (report(CORE[0]), "conformant in part to CORE", "in part"),
        (report(CORE[0], PREF, must={"CORE": 2, "TRITON-DB": 1}), "conformant in part to CORE", "in part"),
        (report(CORE[0], LACKS), "conformant to CORE without a queue delay", "in part"),
        (report(CORE[0], LONG), "conformant to CORE, with limits", "in part"),
        (report(CORE[0], result("DB-A-002", "FAIL"), status=1), "not conformant: 1 rule fails", "broken"),
        (report(CORE[0], result("DB-A-002", "INCONCLUSIVE"), status=75), "inconclusive", "unknown"),
        (Report(header(rules=["DB-A-001"]), (), (CORE[0],), None), "no verdict", "unknown"),
    ],
)
def test_a_badge_says_what_the_sentence_says(found: Report, message: str, kind: str) -> None:
    """CORE decides: a stack that keeps another profile as a whole, and CORE in part, is not shown as conformant."""
    assert badge(found) == Badge("batchproof 2026.11.0", message, kind)


def test_shields_gets_what_it_takes() -> None:
    """The four fields of an endpoint badge, with a colour that shields.io knows."""
    found = to_json(badge(report(*CORE)))

    assert found == {
        "schemaVersion": 1, "label": "batchproof 2026.11.0", "message": "conformant to CORE", "color": "brightgreen",
    }  # fmt: skip


@pytest.mark.parametrize("kind", COLOURS)
def test_the_picture_has_a_name_and_a_sign(kind: str) -> None:
    """It is a whole document, named for those who do not see it, and a sign says what the colour says."""
    root = ET.fromstring(to_svg(Badge("batchproof 1", "kept", kind)))  # noqa: S314

    texts = [str(one.text) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert root.get("aria-label") == "batchproof 1: kept"
    assert texts == ["batchproof 1", f"{COLOURS[kind][2]} kept"]


def test_a_hostile_text_stays_text() -> None:
    """In the attribute and in the elements; characters that cannot be seen are written out."""
    made = to_svg(Badge(HOSTILE, f'"{HOSTILE}', "kept"))

    ET.fromstring(made)  # noqa: S314
    assert "<script" not in made
    assert not [one for one in "\x1b\x00\u202e" if one in made]
