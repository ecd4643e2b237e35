"""The command line under test: each mistake of a person has one clear message and an exit status, and no traceback."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from batchproof import __version__
from batchproof.cli import app
from batchproof.fixtures.judging.catalogue import profiles, rules
from batchproof.fixtures.judging.declarations import DeclarationError, known_issues, with_claims
from batchproof.reports import read
from batchproof.reports.formats import report
from batchproof.reports.formats.jsonl import LineWriter
from batchproof.reports.formats.report import ReportWriter
from batchproof.targets import resolve
from batchproof.targets.protocol import TargetError

LIARS = "batchproof.suites.selftest.liars"
CONFIGS = Path(str(files("batchproof") / "suites" / "config"))
PATIENT = 90  # seconds before a subprocess counts as hung; nothing waits that long
BUNDLE: dict[str, Any] = {
    "format": 1, "batchproof": "1", "rule": "DB-LIVE-001", "kind": "timeline", "seed": 1,
    "target": {"name": "x", "version": "1", "reached": "x", "contact": "", "sight": "wire", "claims": {}},
    "config": None, "judgement": {"verdict": "FAIL", "expected": "", "actual": ""},
    "evidence": {"config": {}, "requests": [], "executions": [], "marks": {}, "stalls": [], "same_clock": True,
                 "complete": True, "problems": []},
}
ISSUE = """[[issue]]
rule = "DB-SIZE-001"
target = "triton"
versions = ">=2"
reason = "a race"
link = "https://example.org/1"
"""


def invoke(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command line in this process, and return the exit status, stdout and stderr."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    printed = capfd.readouterr()
    return result.exit_code, result.stdout + printed.out, result.stderr + printed.err


def one_message(text: str) -> str:
    """Return the one line that is not empty."""
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, text
    return lines[0]


@pytest.mark.parametrize(
    ("target", "exits"),
    [("nonsense", 2), ("no.such.module:Target", 2), ("grpc://127.0.0.1:1", 4), ("mutant:tidy", 2), ("grpc://localhost", 2)],
)
def test_an_unusable_target_has_one_message(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], target: str, exits: int
) -> None:
    """An unknown target is 2, and one that cannot be reached is 4: one message each, and no report."""
    status, _, err = invoke(capfd, "check", "--target", target, "--report", tmp_path, "--rules", "DB-SIZE-006")

    assert status == exits
    assert target.removeprefix("grpc://").removeprefix("mutant:").partition(".")[0] in one_message(err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nonsense", "unknown target 'nonsense': there are litserve, null, reference, triton, triton-docker, virtual, grpc://host:port"),
        ("ftp://localhost:1", "unknown scheme 'ftp://' in --target ftp://localhost:1: there are grpc:// and http://"),
        ("grpc://localhost", "--target grpc://localhost: write grpc://host:port, with the port as a number"),
        ("grpc://localhost:one", "write grpc://host:port, with the port as a number"),
        ("http://localhost:99999", "write http://host:port, with the port as a number"),
        ("grpc://localhost:1?metrics=all", "metrics must be a port number, not 'all'"),
        ("grpc://localhost:1?speed=high", "unknown option speed: there is metrics=PORT"),
        ("grpc://127.0.0.1:1", "127.0.0.1:1"),
        ("http://127.0.0.1:1", "127.0.0.1:1"),
        ("mutant:tidy", "unknown mutant 'tidy': there are size-by-one, "),
        ("no.such.module:Target", "there is no module 'no' to import"),
        ("batchproof.cli:Target", "module 'batchproof.cli' has no 'Target'"),
        ("batchproof.exit_status:WIDTH", "80 is not a target: it has no `info`"),
        (":Target", "cannot be started: ValueError: Empty module name"),
    ],
)
def test_unusable_target_says_what_to_write(target: str, message: str) -> None:
    """A target that cannot be had is refused in one line that names it and the alternatives."""
    with pytest.raises(TargetError) as error:
        resolve(target)

    assert message in one_message(str(error.value))


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--rules", "DB-SIZE-999"], 2, "no rule matches 'DB-SIZE-999': `batchproof rules` lists them"),
        (["--rules", "DB-SIZE-001,db-*"], 2, "no rule matches 'db-*'"),
        (["--profile", "core"], 2, f"unknown profile 'core': there are {', '.join(profiles())}"),
        (["--profile", "CORE", "--rules", "CFG-*"], 2, "no rule matches 'CFG-*' in profile CORE"),
        (["--patience", "endless"], 2, "Invalid value for '--patience'"),
        (["--seed", "random"], 2, "Invalid value for '--seed'"),
    ],
    ids=["unknown rule", "unknown pattern", "unknown profile", "nothing in profile", "unknown patience", "no number"],
)
def test_an_unusable_option_is_misuse(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], options: list[str], status: int, message: str
) -> None:
    """A filter that finds nothing, or an invalid value, is a usage error: it never looks like success."""
    exited, _, err = invoke(capfd, "check", "--target", "null", "--report", tmp_path, *options)

    assert exited == status
    assert message in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read "),
        ("[claims", " is not TOML: "),
        ("delay = true", "needs exactly one table, [claims]"),
        ("[claims]\n[more]", "needs exactly one table, [claims]"),
        ("[claims]\nspeed = true", "unknown claim 'speed': there are cancel, close, config, delay, "),
        ("[claims]\ndelay = [1]", "the claim 'delay' must be true, false, a number or a string"),
        (b"[claims]\ndelay = '\xff'", " is not TOML: "),
    ],
    ids=["missing", "malformed", "no table", "another table", "unknown claim", "wrong type", "no text"],
)
def test_unusable_claims_are_refused(tmp_path: Path, text: Any, message: str) -> None:
    """A claims file with a mistake is refused in one line that names the file and the entry."""
    path = written(tmp_path / "claims.toml", text)

    with pytest.raises(DeclarationError) as error:
        with_claims(resolve("null").info, path)

    assert message in one_message(str(error.value))
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read "),
        ("[[issue", " is not TOML: "),
        ("issue = 'x'", "write each known issue as a table [[issue]]"),
        (ISSUE.replace("DB-SIZE-001", "DB-SIZE-999"), "issue 1: unknown rule 'DB-SIZE-999'"),
        (ISSUE + ISSUE.replace("link", "url"), "issue 2 needs exactly the fields rule, target, "),
        (ISSUE.replace("a race", " "), "issue 1: 'reason' must be a non-empty string"),
        (ISSUE + "occurs = 'often'", "issue 1: 'occurs' is 'always' (the default) or 'sometimes'"),
        (ISSUE.replace(">=2", "two"), "issue 1: 'two' is not a version specifier such as >=2.51,<2.60"),
    ],
    ids=["missing", "malformed", "no tables", "unknown rule", "unknown field", "no reason", "how often", "no versions"],
)
def test_unusable_known_issues_are_refused(tmp_path: Path, text: Any, message: str) -> None:
    """A known-issues file with a mistake is refused in one line that names the file and the entry."""
    path = written(tmp_path / "known.toml", text)

    with pytest.raises(DeclarationError) as error:
        known_issues(path)

    assert message in one_message(str(error.value))
    assert str(path) in str(error.value)


@pytest.mark.parametrize("option", ["--claims", "--known"])
def test_unusable_declaration_is_a_usage_error(tmp_path: Path, capfd: pytest.CaptureFixture[str], option: str) -> None:
    """A declaration file with a mistake is exit 2 in one message, and nothing is judged."""
    path = written(tmp_path / "file.toml", "[[")

    status, _, err = invoke(capfd, "check", "--target", "null", "--report", tmp_path / "out", option, path)

    assert status == 2
    assert f"{path} is not TOML: " in one_message(err)
    assert not (tmp_path / "out").exists()


def written(path: Path, text: str | bytes | None) -> Path:
    """Write a file, or none if the text is None."""
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_an_unwritable_report_folder_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is exit 4, before anything is judged."""
    (tmp_path / "file").touch()

    status, out, err = invoke(capfd, "check", "--target", "null", "--report", tmp_path / "file" / "out")

    assert status == 4
    assert "cannot write a report into" in one_message(err)
    assert "DB-SIZE-001" not in out


@pytest.mark.parametrize("part", ["header", "attempt", "result", "footer"])
def test_a_full_disk_is_not_green(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """A report that cannot be written ends the run with exit 4 and one message, although every rule passes."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ReportWriter if part != "header" else LineWriter, part, full)
    judge = ["--target", "virtual", "--rules", "DB-SIZE-001,DB-SIZE-002", "--patience", "quick"]

    status, out, err = invoke(capfd, "check", *judge, "--report", tmp_path)

    (message,) = [line for line in (out + err).splitlines() if line.endswith("choose another --report")]
    assert status == 4
    assert "No space left on device" in message
    assert str(tmp_path) in message
    assert message.startswith("NO VERDICT: the report in ") == (part != "header")
    assert out.count("not judged: the report cannot be written") == (part in ("attempt", "result"))
    assert not [word for word in ("\nCONFORMANT", "The report is in", "Traceback", "interrupted") if word in out + err]


def test_a_summary_that_cannot_be_written_is_not_green(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """If there is room for report.jsonl, but not for a document derived from it, the run ends with exit 4."""
    (tmp_path / "summary.md").symlink_to("/dev/full")

    status, out, _ = invoke(capfd, "check", "--target", "virtual", "--rules", "DB-SIZE-001", "--report", tmp_path)

    assert status == 4
    assert f"NO VERDICT: the report in {tmp_path} cannot be written: No space left on device; " in out
    assert "The report is in" not in out


def test_a_report_that_cannot_be_read_back_is_not_green(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report that contradicts itself, as when two runs write into one folder, ends the run with exit 4."""
    footer = ReportWriter.footer
    monkeypatch.setattr(ReportWriter, "footer", lambda self, *about: (self.header(), footer(self, *about))[1])

    status, out, _ = invoke(capfd, "check", "--target", "virtual", "--rules", "DB-SIZE-001", "--report", tmp_path)

    assert status == 4
    assert f"NO VERDICT: the report cannot be read back: {tmp_path}/report.jsonl: line 4: a second header; " in out
    assert "The report is in" not in out


def test_with_plain_pytest_a_lost_report_is_not_green_either(tmp_path: Path) -> None:
    """Plain pytest ends with 4 as well, and says why."""
    (tmp_path / "summary.md").symlink_to("/dev/full")
    suite = ["-p", "no:cacheprovider", "--pyargs", "batchproof.suites.conformance", "--target", "virtual"]
    command = [sys.executable, "-m", "pytest", *suite, "--bp-rules", "DB-SIZE-001", f"--bp-report={tmp_path}"]

    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENT, check=False)

    assert run.returncode == 4, run.stdout + run.stderr
    assert f"NO VERDICT: the report in {tmp_path} cannot be written: No space left on device; " in run.stdout


def test_a_run_reads_its_report_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is read back once, for the documents and for the sentence at the end."""
    lines, names = report.lines, list[str]()
    monkeypatch.setattr(report, "lines", lambda raw, name: (names.append(name), lines(raw, name))[1])

    invoke(capfd, "check", "--target", "virtual", "--rules", "DB-SIZE-001", "--report", tmp_path)

    assert names == ["report"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read "),
        ("this is no zip", "is not a replay bundle (a zip with bundle.json"),
        ({"other.json": "{}"}, "is not a replay bundle (a zip with bundle.json"),
        ({"bundle.json": "{"}, "is not a replay bundle (a zip with bundle.json"),
        ({"bundle.json": "[]"}, "is not a replay bundle: in bundle.json, it is not an object"),
        ({"bundle.json": json.dumps({**BUNDLE, "format": 2})}, "its format is 2, and this version of Batchproof"),
        ({"bundle.json": json.dumps({**BUNDLE, "rule": "DB-SIZE-999"})}, "is about the rule DB-SIZE-999, which this"),
        ({"bundle.json": json.dumps({**BUNDLE, "kind": "tape"})}, "unknown kind of evidence 'tape'"),
        ({"bundle.json": json.dumps({**BUNDLE, "evidence": None})}, "'evidence' is not an object"),
        ({"bundle.json": json.dumps({**BUNDLE, "evidence": {}})}, "broken evidence of kind 'timeline'"),
    ],
    ids=["missing", "no zip", "another zip", "no JSON", "no object", "format", "rule", "kind", "nothing", "broken"],
)
def test_an_unusable_bundle_is_misuse(tmp_path: Path, capfd: pytest.CaptureFixture[str], content: Any, message: str) -> None:
    """A file that is not a replay bundle is exit 2 with the reason."""
    path = tmp_path / "bundle.zip"
    if isinstance(content, dict):
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
    else:
        written(path, content)

    status, out, err = invoke(capfd, "check", "--replay", path)

    assert (status, out) == (2, "")
    assert message in one_message(err)
    assert one_message(err).startswith("batchproof: ")


def test_replay_judges_as_it_was_judged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The bundle of a FAIL, judged again offline, is a FAIL with the same number, and exit 1."""
    target = ["--target", f"{LIARS}:RunsTwice", "--rules", "DB-RESULT-002,DB-SIZE-002", "--patience", "quick"]
    first, *_ = invoke(capfd, "check", *target, "--report", tmp_path)
    results = {result["rule"]: result for result in read(tmp_path).results}

    again = {rule: invoke(capfd, "check", "--replay", tmp_path / result["bundle"]) for rule, result in results.items()}

    assert first == 1
    assert {rule: status for rule, (status, _, _) in again.items()} == {"DB-SIZE-002": 1, "DB-RESULT-002": 1}
    for rule, (_, out, err) in again.items():
        assert results[rule]["actual"].partition(",")[0] in out
        assert out.rstrip().endswith("judged again offline: FAIL (when it was recorded: FAIL)")
        assert err == ""


def test_lint_tells_broken_from_unreadable(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`lint` is 0 for clean files, 1 when a MUST is broken, 2 when a file cannot be read."""
    broken = written(tmp_path / "broken.pbtxt", "max_batch_size: eight")
    binary = written(tmp_path / "binary.pbtxt", b"\xff\xfe")

    clean = invoke(capfd, "lint", CONFIGS / "base.pbtxt", CONFIGS / "minimal.pbtxt")
    wrong = invoke(capfd, "lint", CONFIGS / "base.pbtxt", broken)
    unreadable = [invoke(capfd, "lint", path) for path in (tmp_path / "none.pbtxt", tmp_path, binary)]

    assert (clean[0], clean[2], [line.split()[0] for line in clean[1].splitlines()]) == (0, "", ["ok", "ok"])
    assert wrong[0] == 1
    assert f"MUST   CFG-PARSE-001     {broken}: not a model configuration: 1:17" in wrong[1]
    assert [status for status, *_ in unreadable] == [2, 2, 2]
    assert [one_message(err).partition(": cannot read ")[0] for *_, err in unreadable] == ["batchproof"] * 3


def test_rules_are_listed_and_filtered(capfd: pytest.CaptureFixture[str]) -> None:
    """`rules` lists the catalogue, or what the patterns match, as lines or as JSON; if nothing matches, it is exit 2."""
    every = invoke(capfd, "rules")
    some = invoke(capfd, "rules", "DB-FAIL-*", "DB-SIZE-001")
    data = json.loads(invoke(capfd, "rules", "--profile", "QUEUE-POLICY", "--json")[1])
    none = invoke(capfd, "rules", "DB-NOTHING-*")

    assert [line.split()[0] for line in every[1].splitlines()] == list(rules())
    assert [line.split()[0] for line in some[1].splitlines()] == ["DB-SIZE-001", "DB-FAIL-001", "DB-FAIL-002"]
    assert {rule["id"] for rule in data} == {rule.id for rule in rules().values() if rule.profile == "QUEUE-POLICY"}
    assert data[0].keys() == vars(rules()["DB-SIZE-001"]).keys()
    assert none[0] == 2
    assert one_message(none[2]) == "batchproof: no rule matches 'DB-NOTHING-*': `batchproof rules` lists them"


def test_reports_are_combined(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`report` shows several targets side by side: exit 1 if one is not conformant, 2 without a report."""
    judge = ["--rules", "DB-RESULT-002", "--patience", "quick"]
    statuses = [invoke(capfd, "check", "--target", target, *judge, "--report", tmp_path / name)[0]
                for name, target in (("good", "virtual"), ("bad", f"{LIARS}:RunsTwice"))]

    good, both = (invoke(capfd, "report", path) for path in (tmp_path / "good", tmp_path))
    empty = invoke(capfd, "report", CONFIGS)

    assert statuses == [0, 1]
    assert (good[0], both[0], empty[0]) == (0, 1, 2)
    assert "RunsTwice 1.5" in both[1]
    assert "no report.jsonl in" in one_message(empty[2])


def test_version_and_help_are_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """The version is one line. Without a command there is help, and an unknown command is exit 2."""
    version, nothing, unknown = (invoke(capfd, *arguments) for arguments in (["--version"], [], ["judge"]))

    assert version[:2] == (0, f"batchproof {__version__}\n")
    assert "check" in nothing[1] + nothing[2]
    assert (unknown[0], "No such command 'judge'" in unknown[2]) == (2, True)


def test_check_says_what_it_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`check` prints a line for each rule, each failure in full, the counts, and where the report is."""
    judge = ["--target", f"{LIARS}:RunsTwice", "--rules", "DB-RESULT-*", "--patience", "quick"]

    status, out, err = invoke(capfd, "check", *judge, "--report", tmp_path)

    assert (status, err) == (1, "")
    assert "PASS           DB-RESULT-001     MUST   Every answer carries the result of its own request" in out
    assert "FAIL           DB-RESULT-002     MUST   Every answered request was executed exactly once" in out
    assert "  actual    r0 ran 2 times" in out
    assert "\nNOT CONFORMANT: 1 of 2 judged MUST rules fails\n1 FAIL  1 PASS  RunsTwice 1.5, " in out
    assert f"The report is in {tmp_path}/summary.md" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pyargs", "batchproof.suites", "--ignore-glob=*/selftest/*"], "no target to judge: add --target "),
        (["--pyargs", "batchproof.suites.config", "--target=null", "--bp-rules=DB-SIZE-001"],
         "none of the selected rules has a test here, so nothing would be judged"),
    ],
    ids=["no target", "no test"],
)
def test_pytest_with_nothing_to_judge_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    """With plain pytest too, rules that are not judged are a usage error: they must not look as if they had passed."""
    monkeypatch.chdir(tmp_path)
    plain = ["-c", os.devnull, f"--rootdir={tmp_path}", "--import-mode=importlib", "-q"]
    leave_nothing = ["-p", "no:cacheprovider", "-p", "no:benchmark", "-p", "no:hypothesispytest"]

    status = pytest.main([*plain, *leave_nothing, *options])

    printed = capfd.readouterr()
    assert status == 4
    assert message in printed.err
    assert "Traceback" not in printed.out + printed.err
    assert list(tmp_path.iterdir()) == []


def test_inconclusive_is_neither_green_nor_red(tmp_path: Path) -> None:
    """INCONCLUSIVE is exit 75 and a word of its own: in pytest's summary, in its XML, and in ours."""
    xml, report = tmp_path / "pytest.xml", tmp_path / "report"
    judge = ["--target", f"{LIARS}:Starved", "--bp-rules", "DB-DELAY-006", "--bp-patience", "quick"]
    suite = ["-p", "no:cacheprovider", "--pyargs", "batchproof.suites.conformance"]
    command = [sys.executable, "-m", "pytest", *suite, *judge, f"--bp-report={report}", f"--junitxml={xml}"]

    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENT, check=False)

    (theirs,), (ours,) = (ET.parse(path).iter("testcase") for path in (xml, report / "junit.xml"))  # noqa: S314 - our own
    properties = {one.get("name"): one.get("value") for one in theirs.iter("property")}
    assert run.returncode == 75, run.stdout + run.stderr
    assert "1 inconclusive" in run.stdout.splitlines()[-1]
    assert ([child.tag for child in theirs], properties) == (
        ["properties", "failure"], {"rule": "DB-DELAY-006", "verdict": "INCONCLUSIVE"}
    )
    assert [(one.tag, one.get("type")) for one in ours if one.tag != "properties"] == [("error", "INCONCLUSIVE")]
    assert read(report).footer["exit_status"] == 75


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupt_keeps_the_report_and_leaves_nothing_behind(tmp_path: Path, by: signal.Signals) -> None:
    """An interrupt ends the run with exit 130: the report has its footer and says so, and no temporary folder stays."""
    scratch, report = tmp_path / "scratch", tmp_path / "report" / "report.jsonl"
    scratch.mkdir()
    command = [sys.executable, "-m", "batchproof", "check", "--target", "reference", "--rules", "DB-TIMEOUT-*", "--report"]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen([*command, str(report.parent)], cwd=tmp_path, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        deadline = time.monotonic() + PATIENT
        while not (report.exists() and '"result"' in report.read_text(encoding="utf-8")) and run.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)

        run.send_signal(by)
        out, err = run.communicate(timeout=PATIENT)

    footer = read(report).footer
    assert run.returncode == 130, out + err
    assert (footer["reason"], footer["complete"], footer["exit_status"]) == ("interrupted", False, 130)
    assert read(report).truncated is False
    assert "not judged: interrupted" in out
    assert "Traceback" not in out + err
    assert [path.name for path in scratch.iterdir()] == []


def test_rules_that_are_given_twice_are_all_judged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`--rules A --rules B` judges both: to keep the last one alone would look as if the first had passed."""
    asked = ["--rules", "DB-SIZE-002", "--rules", "DB-ORDER-001,DB-ORDER-002"]

    status, out, _ = invoke(capfd, "check", "--target", "virtual", *asked, "--report", tmp_path)

    assert status == 0
    assert re.findall(r"^PASS +(\S+)", out, re.MULTILINE) == ["DB-SIZE-002", "DB-ORDER-001", "DB-ORDER-002"]


def test_the_matrix_of_some_rules(capfd: pytest.CaptureFixture[str]) -> None:
    """An unknown rule is refused before any mutant is judged, and some rules make no page about all."""
    assert invoke(capfd, "mutants", "--rules", "DB-NOTHING-001")[0] == 2
    assert invoke(capfd, "mutants", "--rules", "DB-SIZE-001", "--markdown")[0] == 2
