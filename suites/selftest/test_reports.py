"""Reports: what is read, what is refused, and what a person or a machine sees of it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from batchproof.fixtures.timeline import Execution, Seen, Sent, Stall, Timeline
from batchproof.fixtures.verdicts import Verdict
from batchproof.reports import failure, reading
from batchproof.reports.documents import combine, matrix, to_json, to_junit, to_markdown, write_all
from batchproof.reports.headline import headline
from batchproof.reports.picture import draw
from batchproof.reports.reading import Report, ReportError, read

MS = 1_000_000
SCHEMA = json.loads((Path(reading.__file__).parent / "schema" / "report.schema.json").read_text(encoding="utf-8"))
DELAY = "DB-DELAY-004"
HOSTILE = "\x1b[31m<script>alert(1)</script>\x1b[0m | `rm` ``` \u202e\x00 **bold** [x](http://evil)"
CONFIG = {"max_batch_size": 8, "max_queue_delay_ns": 200 * MS, "instances": 1, "queue_timeout_ns": 0}

REARMED = Timeline(
    config=CONFIG,
    requests=tuple(
        Sent(f"r{i}", i, 1, sent * MS, 396 * MS, echoed=True, seen=Seen(0, 1, 3, 3, i, 391 * MS, 395 * MS, i))
        for i, sent in enumerate((0, 97, 191))
    ),
    executions=(Execution(0, 1, (0, 1, 2), (1, 1, 1), 391 * MS, 395 * MS),),
    marks={"start": 0, "end": 400 * MS},
    stalls=(Stall(50 * MS, MS),),
)

PICTURE = """\
r0 |q--------------------------------------M>|
r1 |         q-----------------------------M>|
r2 |                   q-------------------M>|
    +---------+---------+---------+----------
ms  0         100       200       300"""

FAILURE = """\
FAIL  DB-DELAY-004  MUST   The delay is counted from the oldest request     triton 2.51.0  [witness]
  config    max_batch 8  delay 200 ms  instances 1  seed 1729
  expected  the batch with r0 enters the model <= 200 ms after r0 was queued (+2 ms slack, +3 x 0.3
            ms stall)
  actual    391.2 ms
  note      each arrival re-armed the timer
  r0 |q-----------------------------------------------------------------------------------------M=>|
  r1 |                      q-------------------------------------------------------------------M=>|
  r2 |                                            q---------------------------------------------M=>|
      +----------+-----------+----------+-----------+-----------+----------+-----------+-----------
  ms  0          50          100        150         200         250        300         350
  check     does a newcomer restart the timer?
  again     batchproof check --replay bundles/db-delay-004-1729.zip   # judged again, offline
            batchproof check --target triton --rules DB-DELAY-004 --seed 1729"""


def data(timeline: Timeline) -> Any:
    """The timeline as it stands in a report."""
    return json.loads(json.dumps(timeline.to_json()))


def result(rule: str, verdict: str = "PASS", **fields: Any) -> dict[str, Any]:
    """A result line."""
    line: dict[str, Any] = {"type": "result", "rule": rule, "level": "MUST", "title": f"What {rule} says"}
    line |= {"profile": "CORE", "verdict": verdict, "attempts": 1, "seconds": 0.42, "expected": "8 rows"}
    return line | {"actual": "8 rows", "reason": "", "link": "", "bundle": "", "hints": [], "measures": {}} | fields


RESULTS = [
    result("DB-SIZE-001", measures={"rows in the largest batch": 8, "note": "full"}),
    result("DB-SIZE-002", "SKIPPED", attempts=0, reason="the target does not claim 'preferred'"),
    result("DB-ORDER-001", "NOT_OBSERVABLE", reason="needs sight 'witness'"),
    result("DB-ORDER-002", "OBSERVED", level="MAY", actual="first in, first out"),
    result("DB-DELAY-001", "KNOWN", reason="timer rounds up", link="https://example.org/issues/12"),
    result("DB-DELAY-002", "INCONCLUSIVE", attempts=2),
    result("DB-DELAY-003", "ERROR", actual="VACUOUS: no batch was ever full"),
    result(
        DELAY,
        "FAIL",
        title="The delay is counted from the oldest request",
        expected="the batch with r0 enters the model <= 200 ms after r0 was queued (+2 ms slack, +3 x 0.3 ms stall)",
        actual="391.2 ms",
        bundle="bundles/db-delay-004-1729.zip",
        hints=["does a newcomer restart the timer?"],
    ),
]
COUNTS = {line["verdict"]: 1 for line in RESULTS}
TARGET: dict[str, Any] = {"name": "triton", "version": "2.51.0", "reached": "triton", "contact": "", "sight": "witness"}
TARGET["claims"] = {"delay": True}


def header(**fields: Any) -> dict[str, Any]:
    """A header line."""
    line: dict[str, Any] = {"type": "header", "format": 1, "batchproof": "2026.11.0", "started": "2026-11-21T13:00:00Z"}
    line |= {"target": TARGET, "profile": "CORE", "rules": [line["rule"] for line in RESULTS], "seed": 1729}
    line |= {"patience": "normal", "host": {"python": "3.11.7", "kernel": "6.8", "cpus": 2}}
    return line | {"command": "batchproof check --target triton"} | fields


def attempt(rule: str, verdict: str, timeline: Timeline | None = None, number: int = 1) -> dict[str, Any]:
    """An attempt line."""
    line: dict[str, Any] = {"type": "attempt", "rule": rule, "attempt": number, "verdict": verdict, "seed": 1729}
    line |= {"expected": "8 rows", "actual": "8 rows", "note": "each arrival re-armed the timer", "seconds": 0.42}
    return line | {"config": CONFIG, "timeline": data(timeline) if timeline else None}


def footer(**fields: Any) -> dict[str, Any]:
    """A footer line."""
    line = {"type": "footer", "ended": "2026-11-21T13:01:00Z", "exit_status": 1, "complete": True, "reason": ""}
    return line | {"counts": COUNTS} | fields


ATTEMPTS = [attempt("DB-DELAY-002", "INCONCLUSIVE"), attempt("DB-DELAY-002", "INCONCLUSIVE", number=2)]
ATTEMPTS += [attempt(DELAY, "FAIL", REARMED)]
LINES = [header(), *ATTEMPTS, *RESULTS, footer()]


def write(folder: Path, *lines: Any) -> Path:
    """A folder with a report of these lines."""
    folder.mkdir(exist_ok=True)
    (folder / "report.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def one(**fields: Any) -> Report:
    """A report of one result."""
    line = result(DELAY, **fields)
    return Report(header(rules=[DELAY]), (), (line,), footer(counts={line["verdict"]: 1}))


def parsed(xml: str) -> ET.Element:
    """The root of a document of ours."""
    return ET.fromstring(xml)  # noqa: S314


def errors(line: Any) -> list[Any]:
    """What the schema has against a line."""
    return list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(line))


def test_schema_accepts_every_line() -> None:
    """The schema is a valid one and accepts each line that a run writes."""
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
        attempt(DELAY, "FAIL") | {"timeline": {}},
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
    """The schema refuses a line with an unknown word, a missing field or one too many."""
    assert errors(line)


def test_verdict_words_are_the_rigs() -> None:
    """Reports, schema and rig use the same words in the same order, although reports import nothing of the rig."""
    assert list(reading.VERDICTS) == [str(verdict) for verdict in Verdict] == SCHEMA["$defs"]["verdict"]["enum"]


def test_whole_report_is_read_from_folder_and_file(tmp_path: Path) -> None:
    """A folder is read as the report.jsonl in it."""
    report = read(write(tmp_path, *LINES))
    assert report == read(tmp_path / "report.jsonl")
    assert (report.truncated, report.missing, report.counts) == (False, (), COUNTS)
    assert list(report.areas()) == ["DB-SIZE", "DB-ORDER", "DB-DELAY"]


@pytest.mark.parametrize("rest", ["", '{"type": "resu', '{"type": "foo\xe4"\n'])
def test_report_without_footer_is_truncated_and_says_so(tmp_path: Path, rest: str) -> None:
    """A report without a footer, its last line whole or cut off, is read, and every document says it is truncated."""
    write(tmp_path, *LINES[:5])
    with (tmp_path / "report.jsonl").open("a", encoding="latin-1") as file:
        file.write(rest)
    report = read(tmp_path)
    assert (report.truncated, report.cut) == (True, bool(rest))
    assert headline(report) == "No verdict: the report is truncated, 1 of 8 rules with a result"
    assert "**Truncated.**" in to_markdown(report)
    assert to_json(report)["truncated"] is True
    assert [error.get("type") for error in parsed(to_junit(report)).iter("error")] == ["TRUNCATED"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "the file is empty"),
        (LINES[1:], "the first line is no header"),
        ([header(format=7)], "format 7 is unknown; this version reads format 1"),
        ([header(seed="x")], "line 1: this header has no valid 'seed'"),
        ([header(target={"name": "x"})], "the header's target has no valid 'version'"),
        ([header(rules=[1])], "the header's rules are not all names"),
        ([LINES[0], 5, *LINES[1:]], "line 2 is no JSON object"),
        ([LINES[0], {"type": ["x"]}], "line 2: unknown type ['x']"),
        ([LINES[0], result(DELAY, "GOOD")], "line 2: unknown verdict 'GOOD'"),
        ([LINES[0], result(DELAY, title=None)], "line 2: this result has no valid 'title'"),
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
    """What is no report, or contradicts itself, is refused in one line that names the file and the reason."""
    with pytest.raises(ReportError) as error:
        read(write(tmp_path, *lines))
    assert str(error.value).startswith(f"{tmp_path / 'report.jsonl'}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_broken_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    """Only the last line may be cut off."""
    write(tmp_path, *LINES)
    text = (tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "report.jsonl").write_text("\n".join([text[0], text[1][:20], *text[2:]]), encoding="utf-8")
    with pytest.raises(ReportError, match=r"line 2 is no JSON$"):
        read(tmp_path)


def test_absent_report_is_refused(tmp_path: Path) -> None:
    """A folder without a report, or a path that is none, is named."""
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(ReportError, match=r"no such file$"):
            read(path)


@pytest.mark.parametrize(
    ("fields", "ended", "words"),
    [
        ({}, {"exit_status": 0}, "Conformant: every judged MUST rule holds, 1 in all"),
        ({"verdict": "FAIL"}, {}, "Not conformant: 1 of 1 MUST rule failed"),
        ({"verdict": "FAIL"}, {"complete": False}, "Not conformant: 1 of 1 MUST rule failed"),
        ({"verdict": "FAIL", "level": "SHOULD"}, {"exit_status": 0}, "No verdict: no MUST rule was judged to hold"),
        ({"verdict": "SKIPPED"}, {"exit_status": 0}, "No verdict: no MUST rule was judged to hold"),
        ({"verdict": "ERROR"}, {}, "No verdict: 1 of 1 MUST rule could not be judged"),
        ({"verdict": "INCONCLUSIVE"}, {}, "Undecided: the host was too noisy to judge 1 of 1 MUST rule"),
        ({}, {"exit_status": 3}, "No verdict: no MUST rule failed, but the exit status is 3"),
        ({}, {"complete": False, "exit_status": 0}, "No verdict: the run ended early, 1 of 1 rule with a result"),
    ],
)
def test_headline_claims_no_more_than_was_judged(fields: Any, ended: Any, words: str) -> None:
    """Only a complete report in which some MUST holds and none failed is called conformant."""
    report = one(**fields)
    assert headline(replace(report, footer={**(report.footer or {}), **ended})) == words


def test_junit_counts_agree(tmp_path: Path) -> None:
    """junit.xml parses back, one suite an area, and its counts are those of the report."""
    root = parsed(to_junit(read(write(tmp_path, *LINES))))
    assert [suite.get("name") for suite in root] == [f"triton 2.51.0 DB-{area}" for area in ("SIZE", "ORDER", "DELAY")]
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["8", "1", "2", "3"]
    assert [error.get("type") for error in root.iter("error")] == ["INCONCLUSIVE", "ERROR"]
    reasons = [skip.get("message") for skip in root.iter("skipped")]
    assert reasons[-1] == "KNOWN: timer rounds up https://example.org/issues/12"
    verdicts = [prop.get("value") for prop in root.iter("property") if prop.get("name") == "verdict"]
    assert verdicts == [line["verdict"] for line in RESULTS]


def test_junit_survives_hostile_text() -> None:
    """Control characters that XML forbids are gone, and markup is text."""
    report = one(verdict="FAIL", actual=f"{HOSTILE}\x00\x0b\ufffe\ud800", title=HOSTILE)
    (said,) = (str(failed.text) for failed in parsed(to_junit(report)).iter("failure"))
    assert "<script>" in said
    assert not [bad for bad in "\x00\x0b\x1b\ufffe" if bad in said]


def test_summary_says_it_in_this_order(tmp_path: Path) -> None:
    """summary.md goes from the verdict in words to the tables, the failures, and how it was run."""
    text = to_markdown(read(write(tmp_path, *LINES)))
    parts = ["**Not conformant: 1 of 7 MUST rules failed** (profile CORE)", "## Rules", "### DB-DELAY", "## Failures"]
    parts += [FAILURE, "## Known issues", "<https://example.org/issues/12>", "## Observed", "first in, first out"]
    parts += ["## Not judged", "not claim 'preferred'", "## Measures", "rows in the largest batch", "## How it was run"]
    assert [part for part in parts if part not in text] == []
    assert sorted(parts, key=text.index) == parts


@pytest.mark.parametrize("verdict", ["SKIPPED", "KNOWN", "OBSERVED", "FAIL"])
def test_summary_escapes_hostile_text(verdict: str) -> None:
    """Nothing that a target said becomes HTML, a column, code or a link, and no terminal obeys it."""
    fields = dict.fromkeys(("title", "reason", "actual", "link"), HOSTILE)
    text = to_markdown(one(verdict=verdict, measures={HOSTILE: HOSTILE}, **fields))
    outside, *blocks = text.split("````text\n")
    outside += "".join(block.partition("\n````\n")[2] for block in blocks)
    assert len(blocks) == (verdict == "FAIL")
    assert not [bad for bad in ("<script>", " | `rm", "``` ", " **bold", " [x](") if bad in outside]
    assert not [bad for bad in "\x1b\x00\u202e" if bad in text]
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\| \\`rm\\` \\`\\`\\`" in outside


def test_picture_is_exact() -> None:
    """A request is a line: sent, waiting, entering the model, in it, answered."""
    assert draw(data(REARMED), width=46) == PICTURE


def test_picture_shows_refused_failed_and_unanswered_requests() -> None:
    """A refusal is x and says its kind, a failure too, and a request that never got an answer stays open."""
    requests = (
        Sent("plug", 0, 1, 0, 40 * MS, kind="failed"),
        Sent("r0", 1, 9, 20 * MS, 20 * MS, kind="invalid"),
        Sent("r1", 2, 1, 20 * MS),
    )
    timeline = Timeline(CONFIG, requests, (Execution(0, 1, (0,), (1,), 10 * MS, 30 * MS),), {"end": 90 * MS})
    assert draw(data(timeline), width=48).splitlines()[:3] == [
        "plug |q---M==========----x     | failed",
        "r0   |         qx              | 9 rows, invalid",
        "r1   |         q--------------?|",
    ]


def test_picture_numbers_batches_where_time_does_not_tell() -> None:
    """Under a simulated clock everything may happen at one moment: what is left to see is who was in which batch."""
    requests = tuple(Sent(f"r{i}", i, 1, 5, 5) for i in range(3))
    runs = (Execution(0, 1, (0, 1), (1, 1), 5, 5), Execution(0, 2, (1, 2), (1, 1), 5, 5))
    assert draw(data(Timeline(CONFIG, requests, runs))).splitlines() == [
        "r0 |qM>| batch 1",
        "r1 |qM>| batch 1 and 2",
        "r2 |qM>| batch 2",
        "(all at the same moment)",
    ]


def test_picture_keeps_to_client_times_where_clocks_do_not_compare() -> None:
    """Times of the model are not drawn on the client's axis unless the clocks are the same."""
    text = draw(data(replace(REARMED, same_clock=False)))
    assert not [letter for letter in "M=" if letter in text]
    assert text.endswith("only the client's times are drawn)")


def test_picture_keeps_the_first_requests_and_the_width() -> None:
    """Of many requests the first 16 are drawn, within 100 columns."""
    many = Timeline(CONFIG, tuple(Sent(f"r{i}", i, 1, i, 5 * i, "expired") for i in range(40)))
    lines = draw(data(many)).splitlines()
    assert lines[16] == "... and 24 more"
    assert max(map(len, lines)) <= 100


def test_failure_is_exact() -> None:
    """A failure shows requirement, number against number, picture, hint and commands."""
    assert failure.text(RESULTS[-1], LINES[1:4], header()) == FAILURE


def test_failure_gives_commands_that_work_from_here() -> None:
    """With the report's folder given, the replay command finds the bundle; words from outside are quoted."""
    evil = "grpc://host:1; rm -rf ~"
    command = shlex.join(["batchproof", "check", "--target", evil, "--patience", "quick"])
    text = failure.text(RESULTS[-1], (), header(command=command), folder="out/my run")
    assert "--replay 'out/my run/bundles/db-delay-004-1729.zip'" in text
    assert "--target 'grpc://host:1; rm -rf ~' --patience quick --rules" in text
    for command in ("rm -rf ~", "batchproof check 'unbalanced", ""):
        text = failure.text(RESULTS[-1], (), header(command=command, target=TARGET | {"reached": evil}))
        assert " batchproof check --target 'grpc://host:1; rm -rf ~' --rules" in text


def test_failure_tames_what_the_target_said() -> None:
    """Escapes are gone, a long message is cut, all attempts are named, and a broken timeline costs the picture only."""
    tries = [attempt(DELAY, "INCONCLUSIVE"), attempt(DELAY, "FAIL", number=2) | {"timeline": {"requests": [1]}}]
    text = failure.text(result(DELAY, "FAIL", actual=HOSTILE + "y" * 9000, reason="z\n" * 99), tries, header())
    assert not [bad for bad in "\x00\x1b\u202e" if bad in text]
    assert max(map(len, text.splitlines())) <= 100
    assert len(text) < 2000
    parts = [" more characters)", "  attempts  INCONCLUSIVE, FAIL\n", "(no picture: the timeline is malformed)"]
    assert [part for part in parts if part not in text] == []


def test_write_all_leaves_three_documents(tmp_path: Path) -> None:
    """report.json, junit.xml and summary.md stand beside report.jsonl and can be read back."""
    paths = write_all(write(tmp_path, *LINES))
    assert [path.name for path in paths] == ["report.json", "junit.xml", "summary.md"]
    assert json.loads(paths[0].read_text(encoding="utf-8"))["counts"] == COUNTS
    assert parsed(paths[1].read_text(encoding="utf-8")).get("tests") == "8"
    assert paths[2].read_text(encoding="utf-8").startswith("# Batchproof: triton 2.51.0\n")


def test_combine_compares_targets(tmp_path: Path) -> None:
    """Several targets stand side by side: rules that differ first, `-` where a rule was not selected."""
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


def test_sample_picture_is_drawn() -> None:
    """`python -m batchproof.reports.picture` draws a sample."""
    command = [sys.executable, "-m", "batchproof.reports.picture"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert [part in shown.stdout for part in (" |q", "q sent")] == [True, True]


def test_the_same_target_reached_in_two_ways(tmp_path: Path) -> None:
    """Columns that would have the same head are told apart by how the target was reached; the same again gets numbers."""
    container = TARGET | {"reached": "triton-docker?image=a:1"}
    for name, target in (("process", TARGET), ("container", container), ("again", container)):
        write(tmp_path / name, header(target=target), *LINES[1:])

    both = combine([tmp_path / "process", tmp_path / "container"])
    thrice = combine([tmp_path / "process", tmp_path / "container", tmp_path / "again"])

    assert both.startswith("# Batchproof: triton 2.51.0 (triton), triton 2.51.0 (triton-docker)\n")
    assert thrice.startswith("# Batchproof: triton 2.51.0 #1, triton 2.51.0 #2, triton 2.51.0 #3\n")
