"""Documents derived from reports: what a person or a machine sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batchproof.reports import read
from batchproof.reports.documents import combine, matrix, to_junit, to_markdown, write_all
from batchproof.suites.selftest.report_lines import (
    COUNTS,
    DELAY,
    FAILURE,
    HOSTILE,
    LINES,
    RESULTS,
    TARGET,
    footer,
    header,
    one,
    parsed,
    result,
    write,
)


def test_junit_counts_agree(tmp_path: Path) -> None:
    """junit.xml can be parsed, has one suite for each area, and its counts are those of the report."""
    root = parsed(to_junit(read(write(tmp_path, *LINES))))
    assert [suite.get("name") for suite in root] == [f"triton 2.51.0 DB-{area}" for area in ("SIZE", "ORDER", "DELAY")]
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["8", "1", "2", "3"]
    assert [error.get("type") for error in root.iter("error")] == ["INCONCLUSIVE", "ERROR"]
    reasons = [skip.get("message") for skip in root.iter("skipped")]
    assert reasons[-1] == "KNOWN: timer rounds up https://example.org/issues/12"
    verdicts = [prop.get("value") for prop in root.iter("property") if prop.get("name") == "verdict"]
    assert verdicts == [line["verdict"] for line in RESULTS]


def test_junit_says_what_is_not_claimed_but_known() -> None:
    """A skipped test case has what its rule found as a property, and the reason as its message."""
    reason = "'delay' is not claimed, and it would fail"
    root = parsed(to_junit(one(verdict="SKIPPED", told="fail", reason=reason)))

    told = [prop.get("value") for prop in root.iter("property") if prop.get("name") == "told"]
    assert (told, [skip.get("message") for skip in root.iter("skipped")]) == (["fail"], [reason])


@pytest.mark.parametrize("verdict", ["SKIPPED", "UNSUPPORTED", "NOT_OBSERVABLE", "KNOWN"])
def test_what_was_not_judged_is_skipped_in_junit(verdict: str) -> None:
    """Each word is kept as the type, so that a reader can tell them apart."""
    root = parsed(to_junit(one(verdict=verdict, reason="no")))

    assert [skip.get("type") for skip in root.iter("skipped")] == [verdict]


def test_junit_survives_hostile_text() -> None:
    """Control characters that XML forbids are removed, and markup is text."""
    report = one(verdict="FAIL", actual=f"{HOSTILE}\x00\x0b\ufffe\ud800", title=HOSTILE)
    (said,) = (str(failed.text) for failed in parsed(to_junit(report)).iter("failure"))
    assert "<script>" in said
    assert not [bad for bad in "\x00\x0b\x1b\ufffe" if bad in said]


def test_summary_has_its_parts_in_order(tmp_path: Path) -> None:
    """summary.md goes from the verdict in words to the tables, the failures, and how it was run."""
    text = to_markdown(read(write(tmp_path, *LINES)))
    parts = ["**NOT CONFORMANT: 1 of 3 judged MUST rules fails** (profile CORE)", "## Rules", "### DB-DELAY", "## Failures"]
    parts += [FAILURE, "## Known issues", "<https://example.org/issues/12>", "## Observed", "first in, first out"]
    parts += ["## Not judged", "not claim 'preferred'", "## Measures", "rows in the largest batch", "## How it was run"]
    assert [part for part in parts if part not in text] == []
    assert sorted(parts, key=text.index) == parts


@pytest.mark.parametrize("told", ["fail", ""], ids=["told", "not told"])
@pytest.mark.parametrize("verdict", ["SKIPPED", "UNSUPPORTED", "KNOWN", "OBSERVED", "FAIL"])
def test_summary_escapes_hostile_text(verdict: str, told: str) -> None:
    """Nothing that a target says becomes HTML, a column, code or a link, and no control character reaches a terminal."""
    fields = dict.fromkeys(("title", "reason", "actual", "link"), HOSTILE)
    text = to_markdown(one(verdict=verdict, told=told, measures={HOSTILE: HOSTILE}, **fields))
    outside, *blocks = text.split("````text\n")
    outside += "".join(block.partition("\n````\n")[2] for block in blocks)
    assert len(blocks) == (verdict == "FAIL") + (told == "fail")
    assert not [bad for bad in ("<script>", " | `rm", "``` ", " **bold", " [x](") if bad in outside]
    assert not [bad for bad in "\x1b\x00\u202e" if bad in text]
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\| \\`rm\\` \\`\\`\\`" in outside


def test_write_all_leaves_its_documents(tmp_path: Path) -> None:
    """They are written alongside report.jsonl, and those for machines can be read back."""
    paths = write_all(read(write(tmp_path, *LINES)), tmp_path)
    assert [path.name for path in paths] == ["report.json", "junit.xml", "report.sarif", "summary.md", "report.html"]
    assert json.loads(paths[0].read_text(encoding="utf-8"))["counts"] == COUNTS
    assert parsed(paths[1].read_text(encoding="utf-8")).get("tests") == "8"
    assert json.loads(paths[2].read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert paths[3].read_text(encoding="utf-8").startswith("# Batchproof: triton 2.51.0\n")


def test_combine_compares_targets(tmp_path: Path) -> None:
    """Several targets are shown side by side: rules that differ come first, and `-` marks a rule that was not selected."""
    target = TARGET | {"name": "reference", "version": "2026.11.0", "reached": "reference"}
    passing = [result(line["rule"]) for line in RESULTS[:-1]]
    rules = [line["rule"] for line in passing]
    last = footer(counts={"PASS": 7}, exit_status=0)
    other = write(tmp_path / "a", header(target=target, rules=rules), *passing, last)
    text = combine([other, write(tmp_path / "b", *LINES)])
    assert text.startswith("# Batchproof: reference 2026.11.0, triton 2.51.0\n")
    differ, everything = text.split("## All rules")
    assert [rule in differ for rule in ("DB-SIZE-001", DELAY)] == [False, True]
    row = next(line for line in everything.splitlines() if DELAY in line)
    assert [part.strip() for part in row.split("|")[3:5]] == ["-", "**FAIL**"]
    assert everything.split("|")[-3:-1] == [" conformant          ", " not conformant   "]
    assert matrix([read(other), read(other)]).splitlines()[0].count("reference 2026.11.0 #") == 2


def test_the_same_target_reached_in_two_ways_has_two_names(tmp_path: Path) -> None:
    """Columns with the same head are told apart by how the target was reached; if that is the same, they are numbered."""
    container = TARGET | {"reached": "triton-docker?image=a:1"}
    for name, target in (("process", TARGET), ("container", container), ("again", container)):
        write(tmp_path / name, header(target=target), *LINES[1:])

    both = combine([tmp_path / "process", tmp_path / "container"])
    thrice = combine([tmp_path / "process", tmp_path / "container", tmp_path / "again"])

    assert both.startswith("# Batchproof: triton 2.51.0 (triton), triton 2.51.0 (triton-docker)\n")
    assert thrice.startswith("# Batchproof: triton 2.51.0 #1, triton 2.51.0 #2, triton 2.51.0 #3\n")
