"""How the verdicts of server and linter are compared, counted and written; no server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batchproof.commands.configurations import agreement
from batchproof.commands.configurations.agreement import (
    Judged,
    Servers,
    configurations,
    disagreements,
    judge_one,
    linted,
    model_folder,
    table,
    write,
)
from batchproof.reference_batcher.config import parse_pbtxt
from batchproof.targets.triton.companions import companions, labels
from batchproof.targets.triton.verdict import Verdict, named

INVALID = (("CFG-PARSE-001", "1:1 : no"),)


def judged(server: str, *, invalid: bool, path: str = "a/config.pbtxt") -> Judged:
    """Return a configuration with these verdicts."""
    return Judged(path, Verdict(server, "" if server == "accepted" else "no 'x' for a"), INVALID if invalid else ())


@pytest.mark.parametrize(
    ("server", "invalid", "agrees"),
    [
        ("accepted", False, True), ("accepted", True, False), ("refused", True, True), ("refused", False, False),
        ("ended", True, True), ("ended", False, False), ("cannot tell", True, None), ("cannot tell", False, None),
    ],
)
def test_they_agree_on_what_is_served(server: str, invalid: bool, agrees: bool | None) -> None:
    """Where the server's verdict is not known, there is nothing to agree on."""
    assert judged(server, invalid=invalid).agrees is agrees


def test_the_table_counts() -> None:
    """A row for each verdict that occurs, and a sentence."""
    shown = table([judged("accepted", invalid=False), judged("refused", invalid=False), judged("cannot tell", invalid=True)])

    assert "| accepted | 0 | 1 |\n| refused | 0 | 1 |\n| cannot tell | 1 | 0 |\n\nThey agree on 1 of 2." in shown


def test_disagreements_are_grouped_by_cause() -> None:
    """The most frequent cause comes first; names and numbers make no difference."""
    many = [judged("refused", invalid=False, path=f"{name}/config.pbtxt") for name in "abcdefgh"]

    shown = disagreements([judged("accepted", invalid=True), *many, judged("accepted", invalid=False)])

    assert shown.splitlines()[0] == "8 x refused, and not called invalid: no _ for _"
    assert "1 x called invalid, and accepted: CFG-PARSE-001" in shown
    assert shown.count("config.pbtxt") == 6


def test_a_folder_is_a_line(tmp_path: Path) -> None:
    """The first part of a path is the line's folder, and what is empty is left out."""
    write([judged("accepted", invalid=False, path="one/m/config.pbtxt"), judged("ended", invalid=False, path="two/x.pbtxt")],
          tmp_path / "out.jsonl")

    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [
        {"folder": "one", "files": [{"path": "m/config.pbtxt", "server": "accepted"}]},
        {"folder": "two", "files": [{"path": "x.pbtxt", "server": "ended", "words": "no 'x' for a", "agrees": False}]},
    ]


def test_files_are_found(tmp_path: Path) -> None:
    """Templates of a config.pbtxt are files, too; other files are not."""
    for name in ("m/config.pbtxt", "m/config.pbtxt.j2", "m/model.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b'name: "m"')

    assert [path for path, _ in configurations(tmp_path)] == ["m/config.pbtxt", "m/config.pbtxt.j2"]


@pytest.mark.parametrize(
    ("path", "config", "folder"),
    [("r/m/config.pbtxt", b'name: "x"', "m"), ("config.pbtxt", b'name: "x"', "x"), ("r/m/other.pbtxt", b"", "model")],
)
def test_the_model_has_a_folder(path: str, config: bytes, folder: str) -> None:
    """That of its config.pbtxt, else its own name."""
    assert model_folder(path, config) == folder


def test_a_broken_text_has_a_name() -> None:
    """The first one at the start of a line."""
    assert (named(b"# c\n name : 'a'\n{{{"), named(b"input {")) == ("a", "")


def test_any_bytes_are_linted() -> None:
    """As the server reads them: in a comment they do not matter."""
    assert linted(b"\xff")[1] == ("CFG-PARSE-001",)
    assert "CFG-PARSE-001" not in linted(b"# \xff")[1]


@pytest.mark.parametrize(
    ("config", "asked"),
    [(b'backend: "python" max_batch_size: -1', 2), (b'backend: "dali" max_batch_size: -1', 1), (b'backend: "python"', 1)],
)
def test_python_has_the_last_word(monkeypatch: pytest.MonkeyPatch, config: bytes, asked: int) -> None:
    """What only the linter calls invalid is shown to the real Python backend, if the model is Python's."""
    servers, seen = Servers(), []

    def verdict(server: object, _folder: str, _config: bytes) -> Verdict:
        seen.append(server)
        return Verdict("accepted") if server is servers.empty else Verdict("refused", "no")

    monkeypatch.setattr(agreement, "verdict", verdict)
    one = judge_one(servers, "m/config.pbtxt", "m", config)

    assert seen == [servers.empty, servers.python][:asked]
    assert one.server == (Verdict("refused", "no", ("Python's backend",)) if asked == 2 else Verdict("accepted"))


def test_the_models_of_an_ensemble_fit_it() -> None:
    """They have the tensors that the steps map, with the type and shape of the ensemble's own where these are connected."""
    ensemble = parse_pbtxt("""
        name: "e" platform: "ensemble" max_batch_size: 4
        input { name: "I" data_type: TYPE_STRING dims: [1] }
        ensemble_scheduling {
          step { model_name: "a" input_map { key: "X" value: "I" } output_map { key: "Y" value: "t" } }
          step { model_name: "b" input_map { key: "P" value: "t" } }
          step { model_name: "e" input_map { key: "P" value: "t" } }
          step { model_name: "../up" input_map { key: "P" value: "t" } } }""")

    made = {name: parse_pbtxt(text) for name, text in companions(ensemble, "e")}

    assert set(made) == {"a", "b"}
    assert [(one.name, one.data_type, list(one.dims)) for one in made["a"].input] == [("X", 13, [1])]
    assert [(one.name, one.data_type, list(one.dims)) for one in made["b"].input] == [("P", 11, [-1])]
    assert made["a"].max_batch_size == 4


def test_the_models_of_an_ensemble_have_its_shapes_after_a_reshape() -> None:
    """So the server compares them: an ensemble's [4] with a reshape to [2, 2] fits a model's [2, 2]."""
    tensors = 'input { name: "I" data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ 2, 2 ] } }'
    step = 'ensemble_scheduling { step { model_name: "m" input_map { key: "A" value: "I" } } }'

    made = {name: parse_pbtxt(text) for name, text in companions(parse_pbtxt(f"{tensors} {step}"), "e")}

    assert list(made["m"].input[0].dims) == [2, 2]


def test_only_plain_label_files_are_made() -> None:
    """A path that leads elsewhere is not."""
    names = ("l.txt", "../l.txt", "")
    proto = parse_pbtxt("".join(f'output {{ label_filename: "{name}" }}' for name in names))

    assert labels(proto) == {"l.txt": b"label\n"}
