"""report.jsonl under test: what is read, and what is refused in one clear message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.reports import VERDICTS, ReportError, headline, read
from batchproof.reports.documents import to_json, to_junit, to_markdown
from batchproof.reports.formats.report import FILE, end_early
from batchproof.suites.selftest.report_lines import (
    COUNTS,
    DELAY,
    LINES,
    RESULTS,
    SCHEMA,
    attempt,
    footer,
    header,
    parsed,
    result,
    write,
)


def errors(line: Any) -> list[Any]:
    """Return the schema's objections to a line."""
    return list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(line))


def test_schema_accepts_every_line() -> None:
    """The schema is valid and accepts each line that a run writes."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert [errors(line) for line in LINES] == [[]] * len(LINES)


@pytest.mark.parametrize(
    "line",
    [
        header(format=2),
        header(rules=["DB-SIZE-001", "DB-SIZE-001"]),
        header(started="yesterday"),
        header(target={"name": "triton"}),
        attempt(DELAY, "PASSED"),
        attempt(DELAY, "FAIL") | {"kind": "timeline", "evidence": {}},
        attempt(DELAY, "FAIL") | {"picture": "q-M>"},
        result("size"),
        result(DELAY, level="must"),
        result(DELAY, seconds=-1),
        result(DELAY, bundle="/somewhere/else.zip"),
        result(DELAY, surprise=1),
        footer(counts={"GOOD": 1}),
        footer(complete="yes"),
        {"type": "trailer"},
        {},
    ],
    ids=lambda line: str(line.get("type")),
)
def test_schema_refuses_broken_lines(line: Any) -> None:
    """The schema refuses a line with an unknown word, a missing field or an extra one."""
    assert errors(line)


def test_verdict_words_are_the_rigs() -> None:
    """Reports, schema and verdicts use the same words in the same order, although `reports/` does not import `fixtures/`."""
    assert list(VERDICTS) == [str(verdict) for verdict in Verdict]


def test_whole_report_is_read_from_folder_and_file(tmp_path: Path) -> None:
    """A path to a folder means the report.jsonl in it."""
    report = read(write(tmp_path, *LINES))
    assert report == read(tmp_path / "report.jsonl")
    assert (report.truncated, report.missing, report.counts) == (False, (), COUNTS)
    assert list(report.areas()) == ["DB-SIZE", "DB-ORDER", "DB-DELAY"]


@pytest.mark.parametrize("rest", ["", '{"type": "resu', '{"type": "foo\xe4"\n'])
def test_a_report_without_a_footer_is_read_as_truncated(tmp_path: Path, rest: str) -> None:
    """Whether its last line is whole or cut off, it is read, and every document says that it is truncated."""
    write(tmp_path, *LINES[:5])
    with (tmp_path / "report.jsonl").open("a", encoding="latin-1") as file:
        file.write(rest)
    report = read(tmp_path)
    assert (report.truncated, report.cut) == (True, bool(rest))
    assert headline(report) == "NO VERDICT: the report is truncated, 1 of 8 rules with a result"
    assert "**Truncated.**" in to_markdown(report)
    assert to_json(report)["truncated"] is True
    assert [error.get("type") for error in parsed(to_junit(report)).iter("error")] == ["TRUNCATED"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "the file is empty"),
        (LINES[1:], "the first line is not a header, so this is not report.jsonl"),
        ([header(format=7)], "its format is 7, and this version of Batchproof reads format 1"),
        ([header(seed="x")], "line 1, header: 'seed' is not an integer"),
        ([header(target={"name": "x"})], "line 1, header: 'target' lacks 'version', 'reached', "),
        ([header(rules=[1])], "line 1, header: 'rules.0' is not a string"),
        ([LINES[0], 5, *LINES[1:]], "line 2 is not a JSON object"),
        ([LINES[0], {"type": ["x"]}], "line 2: unknown type ['x']"),
        ([LINES[0], result(DELAY, "GOOD")], "line 2, result: 'verdict' is 'GOOD', and may be 'PASS', "),
        ([LINES[0], result(DELAY, title=None)], "line 2, result: 'title' is not a string"),
        ([LINES[0], result(DELAY, surprise=1)], "line 2, result: it has unknown fields: 'surprise'"),
        ([LINES[0], result(DELAY, seconds=float("nan"))], "line 2, result: 'seconds' is not a number"),
        ([LINES[0], result(DELAY, bundle="/etc/passwd.zip")], "line 2, result: 'bundle': '/etc/passwd.zip' does not match"),
        ([LINES[0], attempt(DELAY, "FAIL") | {"picture": "q-M>"}], "line 2, attempt: 'picture' is not a list"),
        ([*LINES, header()], "line 14: something follows the footer"),
        ([*LINES[:2], header()], "line 3: a second header; two runs wrote into one file"),
        ([*LINES[:-1], RESULTS[0], footer()], "more than one result for DB-SIZE-001"),
        ([LINES[0], result("DB-SIZE-099")], "result for DB-SIZE-099, which the header did not select"),
        ([*LINES[:-2], footer(counts={})], "incomplete although its footer says complete: no result for DB-DELAY-004"),
        ([*LINES[:-2], footer(complete=False)], "the footer counts 1 PASS, 1 SKIPPED, "),
    ],
    ids=lambda value: value if isinstance(value, str) else "lines",
)
def test_contradictions_are_refused(tmp_path: Path, lines: list[Any], message: str) -> None:
    """A file that is not a report, or contradicts itself, is refused in one line that names the file and the reason."""
    with pytest.raises(ReportError) as error:
        read(write(tmp_path, *lines))
    assert str(error.value).startswith(f"{tmp_path / 'report.jsonl'}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_report_that_its_run_has_read_back_is_not_compared_with_the_schema_again(tmp_path: Path) -> None:
    """Only what its lines say together is checked: a report that is not whole must not look so."""
    write(tmp_path, LINES[0], result(DELAY, surprise=1))
    assert [one["surprise"] for one in read(tmp_path, own=True).results] == [1]

    write(tmp_path, *LINES[:-2], footer(counts={}))
    with pytest.raises(ReportError, match="incomplete although its footer says complete"):
        read(tmp_path, own=True)


def test_broken_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    """Only the last line may be cut off."""
    write(tmp_path, *LINES)
    text = (tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "report.jsonl").write_text("\n".join([text[0], text[1][:20], *text[2:]]), encoding="utf-8")
    with pytest.raises(ReportError, match=r"line 2 is not JSON$"):
        read(tmp_path)


def test_absent_report_is_refused(tmp_path: Path) -> None:
    """A folder without a report, or a path that does not exist, is named."""
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(ReportError, match=r"no such file$"):
            read(path)


@pytest.mark.parametrize("rest", ["", '{"type": "res', "\n"], ids=["whole", "cut", "an empty line"])
def test_a_run_that_was_ended_gets_its_footer(rest: str, tmp_path: Path) -> None:
    """What is behind the last whole line is removed; all else stays."""
    path = write(tmp_path, *LINES[:-1]) / FILE
    with path.open("a", encoding="utf-8") as file:
        file.write(rest)

    report = end_early(tmp_path, 1, "it was killed")

    assert report == read(tmp_path)
    assert (len(report.results), report.cut) == (len(RESULTS), False)
    assert report.footer is not None
    assert {name: report.footer[name] for name in ("exit_status", "complete", "reason", "counts")} == {
        "exit_status": 1, "complete": False, "reason": "it was killed", "counts": report.counts,
    }  # fmt: skip


def test_a_report_that_has_its_footer_keeps_it(tmp_path: Path) -> None:
    """The process ended after the report did."""
    path = write(tmp_path, *LINES) / FILE
    before = path.read_bytes()

    assert end_early(tmp_path, 1, "it was killed").footer == read(tmp_path).footer
    assert (tmp_path / FILE).read_bytes() == before
