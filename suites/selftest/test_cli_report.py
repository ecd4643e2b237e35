"""The command line under test: how a run ends, and what becomes of its report."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from batchproof.reports import read
from batchproof.reports.formats import report
from batchproof.reports.formats.jsonl import LineWriter
from batchproof.reports.formats.report import ReportWriter
from batchproof.suites.selftest.command_line import CONFIGS, LIARS, PATIENT, invoke, one_message


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

    owner, verb = (LineWriter, "write") if part == "header" else (ReportWriter, part)  # the header is its first line
    monkeypatch.setattr(owner, verb, full)
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
    monkeypatch.setattr(ReportWriter, "footer", lambda self, *line, **more: (self.header(), footer(self, *line, **more))[1])

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
    monkeypatch.setattr(report, "lines", lambda raw, name, **how: (names.append(name), lines(raw, name, **how))[1])

    invoke(capfd, "check", "--target", "virtual", "--rules", "DB-SIZE-001", "--report", tmp_path)

    assert names == ["report"]


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


def test_check_says_what_it_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`check` prints a line for each rule, each failure in full, the counts, and where the report is."""
    judge = ["--target", f"{LIARS}:RunsTwice", "--rules", "DB-RESULT-00[12]", "--patience", "quick"]

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
    assert "Ended early: interrupted." in (report.parent / "report.html").read_text(encoding="utf-8")
    assert "not judged: interrupted" in out
    assert "Traceback" not in out + err
    assert [path.name for path in scratch.iterdir()] == []


def test_an_interrupt_that_is_lost_ends_the_run_all_the_same(tmp_path: Path) -> None:
    """Ctrl-C while a library swallows every exception: the run ends before its next rule, as interrupted."""
    target = "batchproof.suites.selftest.deaf_target:Deaf"
    command = [sys.executable, "-m", "batchproof", "check", "--target", target, "--rules", "DB-SIZE-*", "--report", "report"]

    run = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, timeout=PATIENT, check=False)

    report = read(tmp_path / "report" / "report.jsonl")
    assert (run.returncode, report.footer["reason"]) == (130, "interrupted"), run.stdout + run.stderr
    assert len(report.results) < 6
    assert "Traceback" not in run.stdout + run.stderr


def test_rules_that_are_given_twice_are_all_judged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`--rules A --rules B` judges both: to keep the last one alone would look as if the first had passed."""
    asked = ["--rules", "DB-SIZE-002", "--rules", "DB-ORDER-001,DB-ORDER-002"]

    status, out, _ = invoke(capfd, "check", "--target", "virtual", *asked, "--report", tmp_path)

    assert status == 0
    assert re.findall(r"^PASS +(\S+)", out, re.MULTILINE) == ["DB-SIZE-002", "DB-ORDER-001", "DB-ORDER-002"]


@pytest.mark.parametrize(("options", "status"), [("", 0), ("?mutant=size-by-one", 1)], ids=["conformant", "not conformant"])
def test_a_check_ends_after_its_last_line(tmp_path: Path, options: str, status: int) -> None:
    """Threads, a pool, a loop and an exit handler do not keep it, its status stays, and no process is left behind."""
    target = f"batchproof.suites.selftest.untidy_target:Untidy{options}"
    command = [sys.executable, "-m", "batchproof", "check", "--target", target, "--rules=DB-SIZE-001", "--report", tmp_path]
    environment = {**os.environ, "UNTIDY_ID": str(tmp_path / "id")}

    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENT, check=False, env=environment)

    assert run.returncode == status, run.stdout + run.stderr
    assert "The report is in" in run.stdout
    assert not read(tmp_path).truncated
    line = one_message(run.stderr)
    assert "3 threads (careless, pool_0, loop)" in line
    assert "1 process (" in line
    assert not Path(f"/proc/{int((tmp_path / 'id').read_text())}").exists()


def test_the_cause_comes_first_and_what_follows_is_a_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A stack instead of a queue breaks the order of everything: its cause is shown in full, and the rest in a line each."""
    rules = "DB-ORDER-001,DB-ORDER-007,DB-PRIO-002"

    status, out, _ = invoke(capfd, "check", "--target", "mutant:stack", "--rules", rules, "--report", tmp_path)

    told = out.partition("\nFAIL  DB-ORDER-001")[2]
    assert status == 1
    assert (told.count("  config "), told.count("; follows from DB-ORDER-001")) == (1, 2)
    assert "NOT CONFORMANT: 3 of 3 judged MUST rules fail (2 of them follow from others)" in told


def test_a_report_has_what_a_reader_asks_about_a_rule_that_passed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its timeline with the bound that was judged, where the rule comes from, and how noisy the host was."""
    invoke(capfd, "check", "--target", "virtual", "--rules", "DB-DELAY-002", "--report", tmp_path)

    found = read(tmp_path)
    (attempt,), (result,) = found.attempts, found.results
    (limit,) = attempt["lanes"]["limits"]
    assert (attempt["verdict"], attempt["evidence"]) == ("PASS", None)
    assert [lane["name"] for lane in attempt["lanes"]["lanes"]] == ["r0"]
    assert (limit["lane"], limit["since_ns"], limit["bound_ns"]) == (0, 0, attempt["lanes"]["delay_ns"])
    assert limit["observed_ns"] == attempt["lanes"]["blocks"][0]["enter_ns"]
    assert all(result[field] for field in ("source", "intent", "basis"))
    assert found.footer is not None
    assert set(found.footer["noise"]) == {"watched_ns", "stalls", "longest_ns", "total_ns"}
