"""The command line under test: each mistake of a person has one clear message and an exit status, and no traceback."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batchproof import __version__
from batchproof.cli import empty_option
from batchproof.exit_status import ExitStatus
from batchproof.fixtures.judging.catalogue import profiles, rules
from batchproof.fixtures.judging.declarations import DeclarationError, known_deaths, known_issues, with_claims
from batchproof.reports import read
from batchproof.suites.selftest.command_line import CONFIGS, LIARS, invoke, one_message, written
from batchproof.targets import BUILT_IN, resolve
from batchproof.targets.names import FORMS
from batchproof.targets.protocol import TargetError

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
DEATH = """[[death]]
target = "triton"
versions = ">=2"
says = ['lost']
reason = "a lock"
link = "https://example.org/1"
"""


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
        ("nonsense", f"unknown target 'nonsense': choose from {', '.join(sorted(BUILT_IN))}, grpc://host:port"),
        ("tritn", "unknown target 'tritn': did you mean 'triton'? Choose from async-batcher, "),
        ("ftp://localhost:1", "unknown scheme 'ftp://' in --target ftp://localhost:1: choose from grpc:// and http://"),
        ("grpc://localhost", "--target grpc://localhost: write grpc://host:port, with the port as a number"),
        ("grpc://localhost:one", "write grpc://host:port, with the port as a number"),
        ("http://localhost:99999", "write http://host:port, with the port as a number"),
        ("grpc://localhost:1?metrics=all", "metrics must be a port number, not 'all'"),
        ("grpc://localhost:1?speed=high", "unknown option speed: the only option is metrics=PORT"),
        ("grpc://127.0.0.1:1", "127.0.0.1:1"),
        ("http://127.0.0.1:1", "127.0.0.1:1"),
        ("mutant:tidy", "unknown mutant 'tidy': choose from size-by-one, "),
        ("mutant:delay-rarmed", "unknown mutant 'delay-rarmed': did you mean 'delay-rearmed'? Choose from size-by-one, "),
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
        (["--profile", "core"], 2, f"unknown profile 'core': choose from {', '.join(profiles())}"),
        (["--profile", "CORE", "--rules", "CFG-*"], 2, "no rule matches 'CFG-*' in profile CORE"),
        (["--patience", "endless"], 2, "Invalid value for '--patience': 'endless' is not one of 'quick', "),
        (["--seed", "random"], 2, "Invalid value for '--seed'"),
        (["--target", "json:decoder"], 2, "the module json.decoder is not a target: it has no `info`"),
        (["--target", "json:loads"], 4, "loads cannot be started: TypeError"),
    ],
    ids=[
        "unknown rule", "unknown pattern", "unknown profile", "nothing in profile", "unknown patience", "no number",
        "a module", "another function",
    ],
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
        ("[claims]\nspeed = true", "unknown claim 'speed': choose from admission, after_closing, ages, "),
        ("[claims]\ndelay = [1]", "the claim 'delay' is false or true, not [1]"),
        ("[claims]\ndelai = true", "unknown claim 'delai': did you mean 'delay'?"),
        (b"[claims]\ndelay = '\xff'", " is not TOML: "),
    ],
    ids=["missing", "malformed", "no table", "another table", "unknown claim", "wrong type", "misspelt", "no text"],
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
    refused(tmp_path, known_issues, text, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("death = 'x'", "write each known death as a table [[death]]"),
        (DEATH.replace("link", "url"), "death 1 needs exactly the fields target, versions, says, "),
        (DEATH.replace("['lost']", "'lost'"), "death 1: 'says' must be a list of words"),
        (DEATH.replace("['lost']", "[]"), "death 1: 'says' must be a list of words"),
        (DEATH + DEATH.replace("a lock", " "), "death 2: 'reason' must be a non-empty string"),
        (DEATH.replace(">=2", "two"), "death 1: 'two' is not a version specifier such as >=2.51,<2.60"),
    ],
    ids=["no tables", "unknown field", "no list", "no words", "no reason", "no versions"],
)
def test_unusable_known_deaths_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """So is one with a mistake in a death."""
    refused(tmp_path, known_deaths, text, message)


def refused(folder: Path, read: Callable[[Path], object], text: Any, message: str) -> None:
    """Read such a file, which is refused in one line that names it."""
    path = written(folder / "known.toml", text)

    with pytest.raises(DeclarationError) as error:
        read(path)

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
    """`lint` is 0 for files that Triton accepts, 1 if it would refuse one, 2 if a file cannot be read."""
    broken = written(tmp_path / "broken.pbtxt", "max_batch_size: eight")

    clean = invoke(capfd, "lint", CONFIGS / "base.pbtxt", CONFIGS / "minimal.pbtxt")
    wrong = invoke(capfd, "lint", "--format", "json", CONFIGS / "base.pbtxt", broken)
    status, _, err = invoke(capfd, "lint", tmp_path / "none.pbtxt")

    assert clean == (0, "2 files read; nothing found\n", "")
    assert wrong[0] == 1
    assert [one["rule"] for one in json.loads(wrong[1])["findings"]] == ["CFG-PARSE-001"]
    assert status == 2
    assert one_message(err).partition(": cannot read ")[0] == "batchproof"


def test_rules_are_listed_and_filtered(capfd: pytest.CaptureFixture[str]) -> None:
    """`rules` lists the catalogue, or what the patterns match, as lines or as JSON; if nothing matches, it is exit 2."""
    every = invoke(capfd, "rules")
    some = invoke(capfd, "rules", "DB-FAIL-*", "DB-SIZE-001")
    data = json.loads(invoke(capfd, "rules", "--profile", "QUEUE-POLICY", "--json")[1])
    none = invoke(capfd, "rules", "DB-NOTHING-*")

    assert [line.split()[0] for line in every[1].splitlines()] == list(rules())
    assert [line.split()[0] for line in some[1].splitlines()] == [
        "DB-SIZE-001", *(rule.id for rule in rules().values() if rule.area == "DB-FAIL")
    ]
    assert {rule["id"] for rule in data} == {rule.id for rule in rules().values() if rule.profile == "QUEUE-POLICY"}
    assert data[0].keys() == vars(rules()["DB-SIZE-001"]).keys()
    assert none[0] == 2
    assert one_message(none[2]) == "batchproof: no rule matches 'DB-NOTHING-*': `batchproof rules` lists them"


def test_version_and_help_are_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """The version is one line. Without a command there is help, and an unknown command is exit 2."""
    version, nothing, unknown = (invoke(capfd, *arguments) for arguments in (["--version"], [], ["judge"]))

    assert version[:2] == (0, f"batchproof {__version__}\n")
    assert "check" in nothing[1] + nothing[2]
    assert (unknown[0], "No such command 'judge'" in unknown[2]) == (2, True)


def test_a_replay_takes_no_other_option(capfd: pytest.CaptureFixture[str]) -> None:
    """The bundle has the target, the rule and the claims, and nothing that is given is silently ignored."""
    words = ("--target", "triton", "--rules", "DB-*", "--seed", "1729")
    status, _, err = invoke(capfd, "check", "--replay", "x.zip", *words)

    assert status == 2
    assert "--replay judges what the bundle holds: leave --target and --rules and --seed out" in one_message(err)


@pytest.mark.parametrize("command", [("check",), ("diff",), ("bench",), ("tune",), ("adapter", "check")], ids=" ".join)
def test_help_names_every_target(capfd: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    """Whatever takes a target lists the names and the forms that there are, and no others."""
    status, out, _ = invoke(capfd, *command, "--help")

    assert status == 0
    assert ",".join((*BUILT_IN, *FORMS)) in "".join(out.split())


def test_the_matrix_of_some_rules(capfd: pytest.CaptureFixture[str]) -> None:
    """An unknown rule is refused before any mutant is judged, and some rules make no page about all."""
    assert invoke(capfd, "mutants", "--rules", "DB-NOTHING-001")[0] == 2
    assert invoke(capfd, "mutants", "--rules", "DB-SIZE-001", "--markdown")[0] == 2


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("check --report=", "--report"), ("check --report '' --rules DB-SIZE-001", "--report"),
        ("bench --report ''", "--report"), ("check --rules ''", "--rules"),
        ("check --target '' --report out", ""), ("check --report out ''", ""), ("lint --baseline ''", "--baseline"),
        ("compare a b --fail-if-slower=", "--fail-if-slower"), ("ab --base '' --new reference", "--base"),
        ("lab awake program --report ''", ""), ("check --rules 'a=' --report out", ""), ("", ""),
    ],
)  # fmt: skip
def test_an_option_that_would_mean_everything_is_not_empty(words: str, option: str) -> None:
    """A variable that is not set must not select every rule, and must not put a report into this folder."""
    assert empty_option(shlex.split(words)) == option


def test_a_command_line_without_words_is_asked_for_some() -> None:
    """It prints the help, and ends with the status of a mistake."""
    ended = subprocess.run([sys.executable, "-m", "batchproof"], capture_output=True, text=True, check=False)

    assert (ended.returncode, "Commands:" in ended.stderr, "Traceback" in ended.stderr) == (2, True, False)


def test_an_empty_folder_is_not_this_one(tmp_path: Path) -> None:
    """What is in it stays, and the message says what to do."""
    (tmp_path / "samples").mkdir()
    program = [sys.executable, "-m", "batchproof", "bench", "--target", "virtual", "--quick", "--report", ""]

    ended = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("batchproof: --report is empty, perhaps because a variable of a script is not set: ")
    assert [one.name for one in tmp_path.iterdir()] == ["samples"]


def test_the_name_of_a_target_cannot_steer_the_terminal(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Neither while it starts, nor in the message."""
    status, out, err = invoke(capfd, "check", "--target", "x\x1b[31m\u202ey", "--report", tmp_path)

    assert (status, "starting xy" in out + err) == (2, True), out + err
    assert not {"\x1b", "\u202e"} & set(out + err)


def test_an_interruption_during_the_imports_has_no_traceback() -> None:
    """The command line takes a moment to import, and a person may have second thoughts in it."""
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'batchproof.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from batchproof.__main__ import main\n"
        "main()\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


LONG = "x" * 300
READ = {
    "report": ["report", LONG],
    "summary": ["summary", LONG],
    "matrix": ["matrix", LONG],
    "truth": ["truth", LONG],
    "compare": ["compare", LONG, LONG],
    "history": ["history", "add", LONG],
    "figures": ["figures", LONG],
}


@pytest.mark.parametrize("words", READ.values(), ids=READ)
def test_a_name_that_no_file_can_have_is_misuse(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """One message says so."""
    status, _, err = invoke(capfd, *words)

    assert (status, "too long" in one_message(err)) == (ExitStatus.MISUSE, True)
    assert len(err) < 1000


def test_a_report_that_cannot_have_its_name_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    """Before anything is judged."""
    status, out, err = invoke(capfd, "check", "--target", "virtual", "--rules", "DB-SIZE-002", "--report", LONG)

    assert (status, "PASS" in out) == (ExitStatus.UNAVAILABLE, False)
    assert "File name too long; choose another --report" in err


DEEP = "[" * 100_000
DEEP_FILES = {
    "claims": (f"a = {DEEP}", ["check", "--target", "virtual", "--rules", "DB-SIZE-002", "--claims"]),
    "known": (f"a = {DEEP}", ["check", "--target", "virtual", "--rules", "DB-SIZE-002", "--known"]),
    "script": (DEEP, ["diff", "--target", "virtual", "--target", "virtual", "--script"]),
}


@pytest.mark.parametrize(("text", "words"), DEEP_FILES.values(), ids=DEEP_FILES)
def test_a_file_that_is_nested_without_an_end_is_misuse(
    text: str, words: list[str], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As is any other that cannot be read."""
    (tmp_path / "deep").write_text(text, encoding="utf-8")

    status, _, err = invoke(capfd, *words, tmp_path / "deep", *(["--report", tmp_path] if words[0] == "check" else []))

    assert (status, str(tmp_path / "deep") in err) == (ExitStatus.MISUSE, True), err
