"""The suite against targets that lie, break or cannot speak: the right word for each, and a report that says so."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from batchproof.fixtures.running import run_suite
from batchproof.reports.reading import Report, read

LIARS = "batchproof.suites.selftest.liars"
SCHEMA = json.loads((files("batchproof") / "reports" / "schema" / "report.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
DOCUMENTS = ("report.json", "junit.xml", "summary.md")
ISSUE = """[[issue]]
rule = "{rule}"
target = "{target}"
versions = "{versions}"
occurs = "{occurs}"
reason = "its timer is coarse"
link = "https://example.org/issues/12"
"""


@dataclass(frozen=True)
class Judged:
    """One run: its exit status and its report."""

    status: int
    report: Report

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each rule."""
        return {result["rule"]: result["verdict"] for result in self.report.results}

    def words(self, rule: str) -> str:
        """All that was said about a rule."""
        (result,) = (result for result in self.report.results if result["rule"] == rule)
        notes = [attempt["note"] for attempt in self.report.attempts if attempt["rule"] == rule]
        return f"{result['actual']} | {result['reason']} | {'; '.join(notes)}"


def judge(folder: Path, liar: str, rules: str, *options: str) -> Judged:
    """Judge a liar by these rules; every line of the report has to keep the schema, whatever the liar did."""
    what = f"--target={LIARS}:{liar}", f"--bp-rules={rules}", f"--bp-report={folder}", "--bp-patience=quick"
    status = run_suite([*what, *options], silent=True)
    lines = [json.loads(line) for line in (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [error.message for line in lines for error in VALIDATOR.iter_errors(line)] == []
    assert all((folder / name).is_file() for name in DOCUMENTS)
    return Judged(status, read(folder))


CASES: list[tuple[str, int, dict[str, tuple[str, str]]]] = [
    ("Honest", 0, {"DB-SIZE-003": ("PASS", "refused"), "DB-RESULT-001": ("PASS", "17 right")}),
    ("Hangs", 1, {
        "DB-SIZE-006": ("FAIL", "no answer"),
        "DB-RESULT-001": ("ERROR", "VACUOUS: fewer than two requests were answered"),
        "DB-LIVE-001": ("FAIL", "neither: r0, r1"),
    }),
    ("Breaks", 1, {"DB-LIVE-001": ("ERROR", "ConnectionResetError: connection reset by peer")}),
    ("FailsToDeploy", 1, {"DB-SIZE-006": ("ERROR", "MemoryError: no room for a batch of 4")}),
    ("RefusesToDeploy", 1, {"DB-SIZE-006": ("ERROR", "the server refuses a batch of 4")}),
    ("WrongShape", 1, {"DB-RESULT-001": ("FAIL", "the witness's tensor has shape (1, 3), not (1, 10)")}),
    ("WrongType", 1, {"DB-RESULT-001": ("FAIL", "the witness's tensor holds float64, not integers")}),
    ("AnswersNone", 1, {"DB-RESULT-001": ("FAIL", "the Future gave no Response, but NoneType")}),
    ("AnotherWitness", 1, {"DB-RESULT-001": ("FAIL", "not this witness: its version is 9, not 2")}),
    ("SwapsResults", 1, {"DB-RESULT-001": ("FAIL", "not their own: r0, r1")}),
    ("RunsTwice", 1, {"DB-RESULT-002": ("FAIL", "r0 2 times, r1 2 times")}),
    ("ClaimsTimeout", 1, {
        "DB-SIZE-006": ("PASS", "answered"),
        "DB-TIMEOUT-001": ("FAIL", "claimed, but the target does not support queue_timeout"),
    }),
    ("NoDelay", 1, {
        "DB-DELAY-001": ("FAIL", "CORE cannot be exempted, and 'delay' is not claimed"),
        "DB-DELAY-004": ("SKIPPED", "'delay' is not claimed | "),
        "DB-TIMEOUT-001": ("SKIPPED", "'queue_timeout' is not claimed, yet it passes"),
    }),
    ("LoadsAnything", 1, {"CFG-SERVER-002": ("FAIL", "loaded")}),
    ("LoadsNothing", 1, {"CFG-SERVER-002": ("ERROR", "VACUOUS: failed to load 'classifier'")}),
    ("NoQueue", 0, {"DB-SIZE-006": ("PASS", ""), "DB-ORDER-001": ("NOT_OBSERVABLE", "its deployment has no `queued`")}),
    ("NoLog", 0, {"DB-SIZE-006": ("PASS", ""), "DB-LIVE-003": ("NOT_OBSERVABLE", "its deployment has no `log`")}),
    ("NoGate", 0, {"DB-SIZE-006": ("PASS", ""), "DB-LIVE-003": ("NOT_OBSERVABLE", "its deployment has no `release`")}),
    ("Starved", 75, {"DB-DELAY-006": ("INCONCLUSIVE", "the host was too slow to send them within the delay")}),
    ("StarvedAtFirst", 0, {"DB-DELAY-006": ("PASS", "batches (r0, r1, r2)")}),
]


@pytest.mark.parametrize(("liar", "status", "expected"), CASES, ids=[liar for liar, *_ in CASES])
def test_liar_is_caught(tmp_path: Path, liar: str, status: int, expected: dict[str, tuple[str, str]]) -> None:
    """Each lie has its verdict, the words that name it, and its exit status."""
    judged = judge(tmp_path, liar, ",".join(expected))

    assert judged.verdicts == {rule: verdict for rule, (verdict, _) in expected.items()}
    assert [words for rule, (_, words) in expected.items() if words not in judged.words(rule)] == []
    assert (judged.status, judged.report.footer["exit_status"], judged.report.footer["complete"]) == (status, status, True)


@pytest.mark.parametrize(
    ("liar", "verdicts"),
    [("Starved", ["INCONCLUSIVE", "INCONCLUSIVE"]), ("StarvedAtFirst", ["INCONCLUSIVE", "PASS"]), ("RunsTwice", ["FAIL"])],
)
def test_only_the_inconclusive_is_measured_again(tmp_path: Path, liar: str, verdicts: list[str]) -> None:
    """A rule is tried again while it is INCONCLUSIVE and patience lasts, with another seed; a FAIL is final."""
    report = judge(tmp_path, liar, "DB-DELAY-006").report

    assert [attempt["verdict"] for attempt in report.attempts] == verdicts
    assert [attempt["seed"] for attempt in report.attempts] == list(range(1729, 1729 + len(verdicts)))
    assert report.results[0]["attempts"] == len(verdicts)


def test_another_hosts_clock_accuses_nobody(tmp_path: Path) -> None:
    """With the model on another host, whose clock does not compare, every rule is judged all the same, and passes."""
    judged = judge(tmp_path, "OtherClock", "DB-*")

    unseen = {rule for rule, verdict in judged.verdicts.items() if verdict == "NOT_OBSERVABLE"}
    assert unseen == {"DB-LAW-005", "DB-LAW-006"}  # an idle instance beside a request that the client sent
    assert (judged.status, set(judged.verdicts.values())) == (0, {"PASS", "NOT_OBSERVABLE"})


def test_what_nobody_can_see_is_no_failure(tmp_path: Path) -> None:
    """A model without a witness fails no rule that needs one: it is not observable."""
    judged = judge(tmp_path, "WireOnly", "DB-*")

    harmless = ("PASS", "NOT_OBSERVABLE", "SKIPPED")
    assert {rule: verdict for rule, verdict in judged.verdicts.items() if verdict not in harmless} == {}
    assert judged.verdicts["DB-RESULT-002"] == "NOT_OBSERVABLE"


def test_a_dead_target_ends_the_run(tmp_path: Path) -> None:
    """A target that dies under way ends the run: exit 1, and a report that is incomplete and says why."""
    judged = judge(tmp_path, "DiesUnderWay", "DB-SIZE-006,DB-DELAY-001,DB-DELAY-002")

    assert judged.verdicts == {"DB-SIZE-006": "PASS"}
    assert judged.report.missing == ("DB-DELAY-001", "DB-DELAY-002")
    assert (judged.status, judged.report.footer["complete"], judged.report.truncated) == (1, False, False)
    assert "exit status 139" in judged.report.footer["reason"]


@pytest.mark.parametrize(
    ("liar", "message"),
    [
        ("DiesAtStart", "cannot be started: RuntimeError: the licence server is down"),
        ("CannotStart", "no server on this machine: start one with `serve --port 1`"),
        ("NoTarget", "is no target: it has no `deploy` (see docs/adapters.md)"),
        ("Nobody", f"module '{LIARS}' has no 'Nobody'"),
    ],
)
def test_what_cannot_start_is_a_usage_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], liar: str, message: str
) -> None:
    """A target that cannot be had is one message on stderr, exit 4, and no report."""
    status = run_suite([f"--target={LIARS}:{liar}", f"--bp-report={tmp_path}"], silent=True)

    printed = capfd.readouterr()
    assert (status, printed.out) == (4, "")
    assert len(printed.err.split("\n\n")[0].splitlines()) == 1
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert list(tmp_path.iterdir()) == []


def test_hostile_words_are_tamed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Escape sequences, markup and hidden characters in an error message reach neither terminal nor documents."""
    target = f"--target={LIARS}:Hostile"
    status = run_suite([target, "--bp-rules=DB-SIZE-004,DB-TIMEOUT-001", f"--bp-report={tmp_path}", "--bp-patience=quick"])

    printed = capfd.readouterr().out
    texts = {name: (tmp_path / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    outside = "".join(texts["summary.md"].split("```")[::2])
    assert status == 1
    assert "'other': no <script>alert(1)</script> `rm` | **4** rows" in printed
    shown = {**texts, "stdout": printed}
    assert [(name, bad) for name, text in shown.items() for bad in "\x1b\x07\u202e" if bad in text] == []
    assert "<script>" not in outside + texts["junit.xml"]
    assert "**4** rows" not in outside
    assert ET.fromstring(texts["junit.xml"]).get("failures") == "2"  # noqa: S314 - our own document


@pytest.mark.parametrize(
    ("liar", "issue", "verdict", "status"),
    [
        ("RunsTwice", {}, "KNOWN", 0),
        ("RunsTwice", {"versions": ">=1.4,<1.6"}, "KNOWN", 0),
        ("RunsTwice", {"versions": "<1.5"}, "FAIL", 1),
        ("RunsTwice", {"target": "SwapsResults"}, "FAIL", 1),
        ("RunsTwice", {"rule": "DB-RESULT-001"}, "FAIL", 1),
        ("Honest", {}, "ERROR", 1),
        ("Honest", {"versions": ">=2"}, "PASS", 0),
        ("Honest", {"occurs": "sometimes"}, "PASS", 0),
        ("RunsTwice", {"occurs": "sometimes"}, "KNOWN", 0),
        ("Hangs", {}, "ERROR", 1),
    ],
    ids=["fails", "fails, this version", "fails, another version", "another target", "another rule", "passes",
         "passes, another version", "passes this time", "fails this time", "not judged"],
)
def test_known_issues_are_strict(tmp_path: Path, liar: str, issue: dict[str, str], verdict: str, status: int) -> None:
    """An entry excuses a FAIL of its target, version and rule; one that excuses nothing, and is no race, is an ERROR."""
    known = tmp_path / "known.toml"
    entry = {"rule": "DB-RESULT-002", "target": liar, "versions": "", "occurs": "always", **issue}
    known.write_text(ISSUE.format(**entry), encoding="utf-8")

    judged = judge(tmp_path / "report", liar, "DB-RESULT-002", f"--bp-known={known}")

    (result,) = judged.report.results
    assert (result["verdict"], judged.status) == (verdict, status)
    assert (result["reason"], result["link"]) == {
        "KNOWN": ("its timer is coarse", "https://example.org/issues/12"),
        "ERROR": ("the known-issues file says that this fails, and it passes: remove the entry" * (liar == "Honest"), ""),
    }.get(verdict, ("", ""))


def test_an_unclaimed_rule_is_tried_once(tmp_path: Path) -> None:
    """What is not claimed is run, so that a report can say that it passes, and fails nobody: exit 5, nothing was judged."""
    claims = tmp_path / "claims.toml"
    claims.write_text("[claims]\nqueue_timeout = false\n", encoding="utf-8")

    judged = judge(tmp_path / "report", "Honest", "DB-TIMEOUT-001", f"--bp-claims={claims}")

    assert (judged.verdicts, judged.status) == ({"DB-TIMEOUT-001": "SKIPPED"}, 5)
    assert "'queue_timeout' is not claimed, yet it passes" in judged.words("DB-TIMEOUT-001")
    assert judged.report.header["target"]["claims"]["queue_timeout"] is False


def test_a_claim_lifts_the_skip(tmp_path: Path) -> None:
    """A claims file may also claim more than the adapter does: then the rule counts."""
    claims = tmp_path / "claims.toml"
    claims.write_text("[claims]\nqueue_timeout = true\n", encoding="utf-8")

    judged = judge(tmp_path / "report", "NoDelay", "DB-TIMEOUT-001", f"--bp-claims={claims}")

    assert (judged.verdicts, judged.status) == ({"DB-TIMEOUT-001": "PASS"}, 0)


def test_every_liar_is_used() -> None:
    """No liar stands there for nothing."""
    from batchproof.suites.selftest import liars

    here = Path(__file__).read_text(encoding="utf-8")
    classes = {name for name, value in vars(liars).items() if isinstance(value, type) and value.__module__ == LIARS}

    assert {name for name in classes if not name.startswith("_") and not re.search(f'[":]{name}"', here)} == set()
