"""`batchproof lint` as people and machines see it: files in, lines and documents out, and the exit status."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from batchproof.commands.lint.command import LintOptions, lint
from batchproof.commands.lint.filters import release_of
from batchproof.exit_status import ExitStatus
from batchproof.suites.selftest.sarif_schema import problems

GOOD = 'backend: "onnxruntime"\n'
WRONG = 'backend: "onnxruntime"\nmax_batch_size: -1\n'  # invalid, CFG-SIZE-001
INERT = 'backend: "onnxruntime"\ndynamic_batching { }\n'  # CFG-SIZE-002


def put(path: Path, text: str) -> Path:
    """Write a file and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


def run(*names: object, **options: object) -> ExitStatus:
    """Lint."""
    return lint(LintOptions([str(name) for name in names], **options))  # type: ignore[arg-type]


def test_a_finding_is_a_line_and_what_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """path:line:column: id kind: message; what to write instead; and a summary."""
    path = put(tmp_path / "config.pbtxt", WRONG)

    assert run(path) is ExitStatus.FAILED

    assert capsys.readouterr().out.splitlines() == [
        f"{path}:2:1: CFG-SIZE-001 invalid: 'max_batch_size' must be non-negative value for {tmp_path.name}",
        "    instead: write 0 for a model without a batch dimension, or the largest batch",
        "1 file read; 1 invalid in 1 of them",
    ]


def test_statuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Findings are 1, something unreadable is 2, and one bad file does not end the run."""
    good, inert = put(tmp_path / "good.pbtxt", GOOD), put(tmp_path / "inert.pbtxt", INERT)
    wrong, gone = put(tmp_path / "wrong.pbtxt", WRONG), tmp_path / "gone.pbtxt"
    os.mkfifo(tmp_path / "fifo")

    assert run(good) is ExitStatus.FINE
    assert (run(inert), run(inert, strict=True)) == (ExitStatus.FINE, ExitStatus.FAILED)
    assert run(good, wrong) is ExitStatus.FAILED
    assert [run(name, wrong) for name in (gone, tmp_path / "fifo", "/dev/zero", "x*.pbtxt")] == [ExitStatus.MISUSE] * 4

    shown = capsys.readouterr()
    assert shown.out.count("CFG-SIZE-001") == 5
    assert "it is a pipe, not a file" in shown.err
    assert "it is a device, not a file" in shown.err
    assert "no file matches this pattern" in shown.err


def test_folders_patterns_and_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder is searched for config.pbtxt, a pattern may be quoted, - is standard input, and no file is read twice."""
    put(tmp_path / "m" / "a" / "config.pbtxt", GOOD)
    put(tmp_path / "m" / "b" / "configs" / "small.pbtxt", GOOD)
    put(tmp_path / "m" / "b" / "other.pbtxt", "no")
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))

    assert run(tmp_path / "m", tmp_path / "**" / "config.pbtxt", "-") is ExitStatus.FAILED
    assert run(tmp_path / "empty") is ExitStatus.MISUSE

    shown = capsys.readouterr()
    assert "<stdin>:2:1: CFG-SIZE-001" in shown.out
    assert "3 files read; 1 invalid in 1 of them" in shown.out
    assert "there is no config.pbtxt in this folder" in shown.err


OTHERS = "infer_config { unique_id: 1 backend { triton { model_name: 'a' version: -1 } } }\ninput_control { }\n"


def test_files_of_other_programs_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a folder, a file called config_*.pbtxt or *_config.pbtxt that has no field of a model is another program's."""
    put(tmp_path / "m" / "a" / "config.pbtxt", GOOD)
    named = put(tmp_path / "m" / "a" / "config_infer_primary.pbtxt", OTHERS)
    put(tmp_path / "m" / "configs" / "labels.pbtxt", "item { id: 1 name: 'cat' }\n")
    put(tmp_path / "m" / "b" / "config_old.pbtxt", f"wrong_field: 1\n{GOOD}")
    put(tmp_path / "n" / "config_infer.pbtxt", OTHERS)
    put(tmp_path / "n" / "models_config.pbtxt", "model_config_list { config { name: 'a' } }\n")
    put(tmp_path / "n" / "batching_config.pbtxt", "max_batch_size { value: 8 }\nnum_batch_threads { value: 4 }\n")
    put(tmp_path / "n" / "graph_config.pbtxt", "input_stream: 'in'\nnode { calculator: 'C' }\n")

    assert run(tmp_path / "m") is ExitStatus.FAILED
    assert run(tmp_path / "n") is ExitStatus.MISUSE
    assert run(named) is ExitStatus.FAILED  # what is named is judged
    put(tmp_path / "m" / "a" / "config.pbtxt", OTHERS)
    assert run(tmp_path / "m" / "a") is ExitStatus.FAILED  # and what Triton reads

    shown = capsys.readouterr()
    assert "2 files read; 1 invalid in 1 of them" in shown.out
    assert 'no field named "wrong_field"' in shown.out
    assert "there is no config.pbtxt in this folder" in shown.err
    assert "this is a file of DeepStream's Gst-nvinferserver, not of a model" in shown.out


def test_rules_are_chosen_and_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--rules names what to report, also a MAY; --ignore and a comment in the file leave out; a typo is misuse."""
    path = put(tmp_path / "a.pbtxt", WRONG)
    told = put(tmp_path / "b.pbtxt", WRONG + "# batchproof: ignore CFG-SIZE-001, CFG-IO-*\n")

    assert run(path, ignore="CFG-SIZE-*") is ExitStatus.FINE
    assert run(told) is ExitStatus.FINE
    assert run(path, rules="CFG-NAME-001") is ExitStatus.FINE
    assert "CFG-NAME-001 hazardous: model configuration must specify 'name'" in capsys.readouterr().out
    assert run(path, rules="CFG-SIEZ-001") is ExitStatus.MISUSE


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        ("CFG-SIZE-001", []),
        ("CFG-SIZE-001 because the limit is another's, see warm-up", []),
        ("CFG-SIZE-01, CFG-IO-*", ["CFG-SIZE-01"]),
        ("CFG-IO-*, cfg-size-001, DB-SIZE-001", ["cfg-size-001", "DB-SIZE-001"]),
        ("CFG_SIZE_001", ["CFG_SIZE_001"]),
        ("everything", ["everything"]),
        (f"CFG-{'X' * 90}", [f"CFG-{'X' * 56}..."]),
    ],
)
def test_a_comment_that_names_no_rule_is_told(
    words: str, unknown: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever mistypes an id sees it, and what it was to hide is reported."""
    path = put(tmp_path / "a.pbtxt", f"{WRONG}# batchproof: ignore {words}\n")

    status = run(path)
    err = capsys.readouterr().err

    assert [line.split(" ignores ")[1].split(",")[0] for line in err.splitlines()] == unknown
    assert status == (ExitStatus.FAILED if unknown else ExitStatus.FINE)


def test_a_baseline_replaces_no_link(tmp_path: Path) -> None:
    """What the link leads to is written, and a pipe or a device stays what it is."""
    path = put(tmp_path / "a.pbtxt", WRONG)
    link = tmp_path / "known.json"
    link.symlink_to(tmp_path / "real.json")
    assert run(path, write_baseline=link) is ExitStatus.FINE
    assert link.is_symlink()
    assert run(path, baseline=tmp_path / "real.json") is ExitStatus.FINE


@pytest.mark.parametrize(
    ("version", "status"),
    [("2.51.0", 1), ("24.10", 1), ("2.52", 0), ("24.11", 0), ("25.10", 0), ("", 0), ("24.13", 2), ("1.9", 2), ("new", 2)],
)
def test_a_release_may_be_named(version: str, status: int, tmp_path: Path) -> None:
    """--triton-version takes the number of the server or the name of its container."""
    path = put(tmp_path / "a.pbtxt", 'backend: "onnxruntime"\nmodel_metrics { }')
    assert run(path, triton_version=version) == status


@pytest.mark.parametrize(("version", "release"), [("25.06", 59), ("25.07", 59), ("25.08", 60), ("26.09", 73), ("23.01", 30)])
def test_containers_have_releases(version: str, release: int) -> None:
    """There is a release each month, but for one."""
    assert release_of(version) == (2, release)


def test_the_name_is_compared_with_the_folder_of_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder with a version in it is one that a server can load; any other folder has a name of its own."""
    path = put(tmp_path / "a" / "config.pbtxt", f'{GOOD}name: "b"\n')
    assert run(path) is ExitStatus.FINE
    (tmp_path / "a" / "1").mkdir()
    assert run(path) is ExitStatus.FAILED
    assert "2:1: CFG-NAME-002 invalid: unexpected directory name 'a' for model 'b'" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["rules", "ignore"])
def test_an_option_that_names_no_rule_is_refused(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A list of nothing does not stand for every rule: that would hide everything."""
    assert run(put(tmp_path / "m" / "config.pbtxt", WRONG), **{option: " , "}) is ExitStatus.MISUSE
    assert f"--{option} ' , ' names no rule" in capsys.readouterr().err


def test_what_is_not_a_file_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe without a writer as the baseline, and a socket as a configuration."""
    good = put(tmp_path / "m" / "config.pbtxt", GOOD)
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "s.pbtxt"))
        assert run(good, baseline=tmp_path / "pipe") is ExitStatus.MISUSE
        assert run(tmp_path / "s.pbtxt") is ExitStatus.MISUSE

    told = capsys.readouterr().err.splitlines()
    assert "it is a pipe, not a file" in told[0]
    assert "it is a socket" in told[1]


def test_what_a_nameless_tensor_lacks_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An input of which nothing is written is one mistake, not three."""
    assert run(put(tmp_path / "m" / "config.pbtxt", 'backend: "python"\ninput { }\noutput { }\n')) is ExitStatus.FAILED
    assert capsys.readouterr().out.splitlines()[-1] == "1 file read; 2 invalid in 1 of them"


@pytest.mark.parametrize("name", ["sync_config", "sync-config", "config_sync", "config-sync", "config.sync"])
def test_a_folder_has_configurations_of_other_names(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several models in one folder are told apart by what stands before or behind the word config."""
    put(tmp_path / f"{name}.pbtxt", WRONG)
    put(tmp_path / "myconfig.pbtxt", WRONG)
    assert run(tmp_path) is ExitStatus.FAILED
    assert capsys.readouterr().out.splitlines()[-1] == "1 file read; 1 invalid in 1 of them"


@pytest.mark.parametrize(
    ("times", "words"), [(1, ""), (2, "; the same on line 3"), (3, "; the same on lines 3 and 4"),
                         (9, "; the same on lines 3, 4, 5, 6 and 4 more")],
)  # fmt: skip
def test_the_same_mistake_on_several_lines_is_one(
    times: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who makes it twice makes it for one reason."""
    assert run(put(tmp_path / "a.pbtxt", GOOD + "max_batchsize: 1\n" * times)) is ExitStatus.FAILED
    _, instead, last = capsys.readouterr().out.splitlines()
    assert instead == f"    instead: write `max_batch_size`, or remove it{words}"
    assert last == "1 file read; 1 invalid in 1 of them"


def test_a_template_is_named_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A placeholder where a value belongs is the only finding."""
    placeholders = ("${size}", "{{ size }}", "<SIZE>", "@SIZE@", "@size", "$size", "%(size)s", "##size##", "MAX_SIZE")
    for number, placeholder in enumerate(placeholders):
        assert run(put(tmp_path / f"{number}.pbtxt", f"{GOOD}max_batch_size: {placeholder}\nfoo: 1\n")) is ExitStatus.FAILED
    out = capsys.readouterr().out
    assert (out.count("this is a template"), out.count("CFG-PARSE-001")) == (9, 0)


@pytest.mark.parametrize(
    ("tensor", "placeholder"),
    [("data_type: TYPE_#DTYPE dims: 1", "#DTYPE"), ("data_type: TYPE_FP32\n dims: [ -1, #width ]\n", "#width")],
)
def test_a_placeholder_that_begins_a_comment_is_one(
    tensor: str, placeholder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it hides, such as the end of a list, is no mistake of its own."""
    assert run(put(tmp_path / "a.pbtxt", f'{GOOD}input {{ name: "I"\n {tensor}\n}}\n')) is ExitStatus.FAILED
    out = capsys.readouterr().out
    assert f"this is a template, not a configuration: '{placeholder}' is a placeholder" in out
    assert out.count("CFG-") == 1


def test_a_name_of_an_enumeration_is_no_placeholder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It stands in the wrong place, which is a mistake."""
    assert run(put(tmp_path / "a.pbtxt", f"{GOOD}max_batch_size: KIND_CPU\n")) is ExitStatus.FAILED
    assert "CFG-PARSE-001" in capsys.readouterr().out


def test_a_placeholder_in_a_name_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a shell makes of its characters says nothing about the name that will be filled in."""
    assert run(put(tmp_path / "a.pbtxt", 'name: "##model##"\nbackend: "python"\n'), rules="CFG-PARSE-003,CFG-NAME-003") == 0
    out = capsys.readouterr().out
    assert (out.count("CFG-PARSE-003"), out.count("CFG-NAME-003")) == (1, 0)


def test_what_is_not_a_template_is_not_called_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A string of JSON, bytes of anything else and a comment can look like a placeholder."""
    put(tmp_path / "a.pbtxt", '{"$defs": {}}')
    (tmp_path / "b.pbtxt").write_bytes(b"\x1f\x8b\x08$iS\x02 $HOME\n")
    put(tmp_path / "c.pbtxt", f"{GOOD}max_batch_size: many  # as $USER_NAME or @somebody says\n")
    assert run(tmp_path / "a.pbtxt", tmp_path / "b.pbtxt", tmp_path / "c.pbtxt") is ExitStatus.FAILED
    assert "this is a template" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("folders", "versions", "absent"),
    [("12", "[ 5 ]", True), ("12", "[ 5, 2 ]", False), ("", "[ 5 ]", False), ("1", "[ -2 ]", False)],
)
def test_a_policy_of_versions_without_a_folder(
    folders: str, versions: str, absent: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server finds nothing to serve: that is known only where version folders lie next to the configuration."""
    policy = f"version_policy {{ specific {{ versions: {versions} }} }}"
    put(tmp_path / "m" / "config.pbtxt", f'name: "m" {GOOD}{policy}\n')
    for one in folders:
        (tmp_path / "m" / one).mkdir()

    assert run(tmp_path) is (ExitStatus.FAILED if absent else ExitStatus.FINE)
    assert ("version policy of model 'm': the folders next to it are 1, 2" in capsys.readouterr().out) is absent


@pytest.mark.parametrize(
    ("given", "where", "wrong"),
    [
        ('output {{ name: "O" label_filename: "{}" }}', "a.txt", "1/a.txt"),
        (
            'model_warmup {{ batch_size: 1 inputs {{ key: "I" value {{ input_data_file: "{}" }} }} }}',
            "warmup/a.txt",
            "a.txt",
        ),
        (
            'sequence_batching {{ state {{ initial_state {{ data_file: "{}" }} }} }}',
            "initial_state/a.txt",
            "warmup/a.txt",
        ),
    ],
)
def test_files_that_a_configuration_names(
    given: str, where: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each kind of file has its place in the model's folder; nothing is said where no version lies there."""
    put(tmp_path / "m" / "config.pbtxt", f"{GOOD}{given.format('a.txt')}\n")

    def found() -> bool:
        run(tmp_path, rules="CFG-FILE-001")
        return f"failed to open text file for read m/{where}: No such file" in capsys.readouterr().out

    assert not found()
    put(tmp_path / "m" / "1" / "model.onnx", "")
    assert found()
    put(tmp_path / "m" / wrong, "")
    assert found()
    put(tmp_path / "m" / where, "")
    assert not found()


@pytest.mark.parametrize(
    ("given", "file", "told"),
    [
        ('backend: "onnxruntime"', "best.onnx", "'model.onnx', for which its backend looks, but there is '1/best.onnx'"),
        ('backend: "onnxruntime"', "model.onnx", ""),
        ('backend: "onnxruntime"', "client.py", ""),
        ('backend: "python"', "other.py", "'model.py', for which its backend looks, but there is '1/other.py'"),
        ('backend: "python"', "model.pyc", ""),
        ('backend: "python" default_model_filename: "a.py"', "model.py", "'a.py', for which its backend looks"),
        (
            'platform: "tensorrt_plan"',
            "yolo.engine",
            "'model.plan', for which its backend looks, but there is '1/yolo.engine'",
        ),
        ('backend: "tensorrt" cc_model_filenames { key: "8.6" value: "a.plan" }', "b.plan", ""),
        ('backend: "fil"', "other.json", ""),
    ],
)
def test_the_name_of_the_model_s_file(
    given: str, file: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of the model's kind with another name than its backend looks for is found, if no version has the right one."""
    put(tmp_path / "m" / "config.pbtxt", f"{given}\n")
    put(tmp_path / "m" / "1" / file, "")
    run(tmp_path, rules="CFG-FILE-003")
    assert told in (out := capsys.readouterr().out)
    assert ("CFG-FILE-003 hazardous" in out) is bool(told)

    put(tmp_path / "m" / "2" / file, "")
    for one in ("model.onnx", "model.py", "model.plan", "a.py"):
        put(tmp_path / "m" / "2" / one, "")
    run(tmp_path, rules="CFG-FILE-003")
    assert "CFG-FILE-003" not in capsys.readouterr().out


def test_a_file_of_data_that_is_too_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file with fewer bytes than its shape asks for is found; strings have any length, and so have sizes that vary."""
    tensor = '{{ input_data_file: "a" data_type: {} dims: [ 3, {} ] }}'
    warm_up = f'model_warmup {{{{ batch_size: 2 inputs {{{{ key: "I" value {tensor} }}}} }}}}'
    put(tmp_path / "m" / "1" / "model.onnx", "")

    def found(length: int, kind: str, size: int) -> bool:
        put(tmp_path / "m" / "config.pbtxt", f"{GOOD}{warm_up.format(kind, size)}\n")
        put(tmp_path / "m" / "warmup" / "a", "x" * length)
        run(tmp_path, rules="CFG-FILE-002")
        return f"expects 24 bytes, but the data provided from a only has {length} bytes" in capsys.readouterr().out

    assert found(23, "TYPE_FP32", 2)
    assert found(0, "TYPE_INT64", 1)
    assert not any(found(23, kind, size) for kind, size in (("TYPE_STRING", 2), ("TYPE_FP32", -1), ("TYPE_FP16", 2)))
    assert not found(24, "TYPE_FP32", 2)
    assert not found(25, "TYPE_FP32", 2)


def test_a_model_without_a_name_is_called_like_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The server gives it that name; elsewhere nobody knows one."""
    text = WRONG.replace(GOOD, "") + 'backend: "python"\n'
    run(put(tmp_path / "echo" / "config.pbtxt", text), put(tmp_path / "other.pbtxt", text))
    first, second = (line for line in capsys.readouterr().out.splitlines() if "CFG-SIZE-001" in line)
    assert first.endswith("for echo")
    assert second.endswith("for this model")


def test_a_baseline_hides_what_was_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was written is not reported again, even on another line; what is new is, and what is gone is counted."""
    path, baseline = put(tmp_path / "a.pbtxt", WRONG), tmp_path / "baseline.json"
    assert run(path, write_baseline=baseline) is ExitStatus.FINE

    put(path, "# a line\n" + WRONG)
    assert run(path, baseline=baseline) is ExitStatus.FINE
    put(path, WRONG + 'input { name: "A" data_type: TYPE_FP32 dims: 0 }')
    assert run(path, baseline=baseline) is ExitStatus.FAILED
    put(path, GOOD)
    assert run(path, baseline=baseline) is ExitStatus.FINE
    assert "1 of the baseline not found any more" in capsys.readouterr().out

    for damaged in ("{", "[]", '{"format": 9, "findings": []}', '{"format": 1, "findings": [3]}'):
        assert run(path, baseline=put(baseline, damaged)) is ExitStatus.MISUSE
    assert run(path, baseline=tmp_path / "none") is ExitStatus.MISUSE
    assert run(path, write_baseline=tmp_path / "none" / "b.json") is ExitStatus.UNAVAILABLE


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One document with all findings, what could not be read, and the counts."""
    path = put(tmp_path / "a.pbtxt", WRONG)
    run(path, tmp_path / "none", form="json")

    data = json.loads(capsys.readouterr().out)

    (found,) = data["findings"]
    assert (found["path"], found["line"], found["column"]) == (str(path), 2, 1)
    assert (found["rule"], found["kind"]) == ("CFG-SIZE-001", "invalid")
    assert data["unreadable"] == [{"path": str(tmp_path / "none"), "why": "No such file or directory"}]
    assert data["summary"] == {"files": 1, "invalid": 1, "hazardous": 0, "inert": 0, "known": 0, "gone": 0}


def test_sarif(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log of SARIF 2.1.0: rules, results with places, and a notification for what could not be read."""
    run(put(tmp_path / "a b.pbtxt", WRONG), tmp_path / "none", form="sarif")

    text = capsys.readouterr().out
    assert problems(text) == []
    (one,) = json.loads(text)["runs"]

    (result,) = one["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], result["level"]) == ("CFG-SIZE-001", "error")
    assert place["region"] == {"startLine": 2, "startColumn": 1}
    assert place["artifactLocation"]["uri"].endswith("/a%20b.pbtxt")
    assert [rule["id"] for rule in one["tool"]["driver"]["rules"]] == ["CFG-SIZE-001"]
    assert one["invocations"][0]["executionSuccessful"] is False


def test_github(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A workflow command for each finding, and for each file that cannot be read."""
    path = put(tmp_path / "a.pbtxt", WRONG)
    run(path, tmp_path / "none", form="github")

    lines = capsys.readouterr().out.splitlines()

    assert lines[0].startswith(f"::error file={path},line=2,col=1,title=CFG-SIZE-001::'max_batch_size' must be")
    assert lines[0].endswith("%0AInstead: write 0 for a model without a batch dimension, or the largest batch")
    assert lines[1] == f"::error file={tmp_path / 'none'}::cannot read it: No such file or directory"


@pytest.mark.parametrize("form", ["text", "github", "json", "sarif"])
def test_no_name_can_forge_a_line(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file or a tensor whose name has line ends, colours or bytes that are not UTF-8 cannot pass for anything else."""
    name = "a\n::error file=x::b:1:1: CFG\x1b[31m\udcff.pbtxt"
    tensor = 'input { name: "T\\n::error::\\033[31m" data_type: TYPE_FP32 dims: 0 }\n'
    run(put(tmp_path / name, 'backend: "onnxruntime"\n' + tensor), form=form)

    out = capsys.readouterr().out

    assert "\x1b" not in out
    assert [line for line in out.splitlines() if line.startswith("::error file=x")] == []
    assert "\n::error::" not in out


def test_much_is_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name of a million characters is cut, and a thousand findings of one rule are counted."""
    long = f'input {{ name: "{"x" * 1_000_000}" data_type: TYPE_FP32 dims: 0 }}\n'
    run(put(tmp_path / "a.pbtxt", GOOD + long + 'input { name: "y" dims: 1 }\n' * 1000))

    out = capsys.readouterr().out

    assert len(out) < 20_000
    assert "and at least 980 more of this rule" in out


def test_output_that_is_not_utf8_works(tmp_path: Path) -> None:
    """Where the terminal has no such character, it is escaped."""
    file = put(tmp_path / "a.pbtxt", 'backend: "onnxruntime"\ninput { name: "\u00e9" data_type: TYPE_FP32 dims: 0 }\n')
    program, env = [sys.executable, "-m", "batchproof", "lint", str(file)], {**os.environ, "PYTHONIOENCODING": "ascii"}

    ended = subprocess.run(program, capture_output=True, timeout=60, check=False, env=env)

    assert (ended.returncode, ended.stderr) == (ExitStatus.FAILED, b"")
    assert b"model input '\\xe9' dimension" in ended.stdout
