"""`batchproof explain` as people and machines see it."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from batchproof.commands.explain.command import explain
from batchproof.exit_status import ExitStatus

CONFIGS = files("batchproof") / "suites" / "config"


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    """A line that says what it is, and headings with sentences; a surprise names where it is proven."""
    assert explain([str(CONFIGS / "base.pbtxt")]) is ExitStatus.FINE

    out = capsys.readouterr().out

    assert "classifier: a dynamic batcher, up to 16 rows in a batch, 1 instance" in out.splitlines()[0]
    headings = [line.strip() for line in out.splitlines() if line.startswith("  ") and line.endswith(":")]
    assert headings == ["When a batch leaves:", "What a request waits for:", "What is refused:", "What surprises:"]
    assert "[docs/findings.md#f-2026-03]" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same as data, one entry for each file."""
    assert explain([str(CONFIGS / "minimal.pbtxt"), str(CONFIGS / "sequence.pbtxt")], as_json=True) is ExitStatus.FINE

    one, two = json.loads(capsys.readouterr().out)["configurations"]

    assert one["waits"][0] == "It does not wait for company."
    assert one["surprises"][0]["source"] == "docs/findings.md#f-2026-09"
    assert "50% of the places have a request, or 3 ms" in two["leaves"][1]
    assert (one["no_effect"], one["invalid"]) == ([], [])


def test_the_folder_has_a_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It names a model without a name, and the server refuses another name than that of the folder."""
    path = tmp_path / "echo" / "config.pbtxt"
    (tmp_path / "echo" / "1").mkdir(parents=True)
    path.write_text('backend: "python"', encoding="utf-8")
    assert explain([str(path)]) is ExitStatus.FINE
    path.write_text('backend: "python" name: "other"', encoding="utf-8")
    assert explain([str(path)]) is ExitStatus.FAILED

    out = capsys.readouterr().out
    assert "config.pbtxt: echo: no batcher" in out
    assert "unexpected directory name 'echo' for model 'other'" in out


def test_the_only_file_of_a_model_tells_its_backend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The server guesses it from the file's name, and so does this; two such files leave it open."""
    folder = tmp_path / "m" / "1"
    folder.mkdir(parents=True)
    path = tmp_path / "m" / "config.pbtxt"
    path.write_text("max_batch_size: 8", encoding="utf-8")
    (folder / "model.onnx").touch()
    assert explain([str(path)]) is ExitStatus.FINE
    assert "2 instances (with GPUs: 1 on each)" in capsys.readouterr().out
    (folder / "model.plan").touch()
    assert explain([str(path)]) is ExitStatus.FINE
    assert "1 instance (with GPUs: 1 on each)" in capsys.readouterr().out


def test_what_is_refused_is_not_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A configuration that Triton refuses has no behaviour; the others are explained all the same."""
    wrong, inert = tmp_path / "wrong.pbtxt", tmp_path / "inert.pbtxt"
    wrong.write_text("max_batch_size: eight", encoding="utf-8")
    inert.write_text('backend: "onnxruntime"\ndynamic_batching { }', encoding="utf-8")

    assert explain([str(wrong), str(inert)]) is ExitStatus.FAILED
    assert explain([str(tmp_path / "none"), str(wrong)]) is ExitStatus.MISUSE

    out = capsys.readouterr().out
    assert "Triton refuses this configuration" in out
    assert "Expected integer, got: eight (CFG-PARSE-001, line 1)" in out
    assert "'max_batch_size' is 0 or missing" in out


def minimal_with(more: str, path: Path) -> str:
    """Write a small configuration with one field more; return its path."""
    path.write_text(f'{(CONFIGS / "minimal.pbtxt").read_text(encoding="utf-8")}\n{more}', encoding="utf-8")
    return str(path)


def test_what_ends_the_server_is_not_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first line says it, and the next ones why; the status is that of what is refused."""
    wrong = minimal_with('metric_tags { key: "my-tag" value: "x" }', tmp_path / "wrong.pbtxt")
    assert explain([wrong]) is ExitStatus.FAILED

    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("wrong.pbtxt: Triton refuses this configuration, or ends with it")
    assert "'my-tag'" in second


def test_a_model_that_ends_later_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It loads; what ends it is among the surprises."""
    passive = minimal_with("instance_group { kind: KIND_CPU passive: true }", tmp_path / "passive.pbtxt")
    assert explain([passive]) is ExitStatus.FINE

    out = capsys.readouterr().out
    assert "no instance that serves" in out.splitlines()[0]
    assert "the first request ends tritonserver, with every other model (CFG-END-002" in out
