"""The linter against 200 configurations of our own making, each with what a Triton was seen to do with it."""

from __future__ import annotations

import random
import re
import shutil
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import pytest

from batchproof.commands.configurations.agreement import Servers, judge_one, linted
from batchproof.suites.selftest.commands.configurations.recorded import Recorded, recorded
from batchproof.targets.triton.loader import LOADED, REFUSED, Answer
from batchproof.targets.triton.verdict import ACCEPTED

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SAMPLE = 40
FOLDER = files("batchproof") / "suites" / "config"
MUTANTS: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "mutants.toml").read_text(encoding="utf-8"))
BESIDE = {name: mutant for name, mutant in MUTANTS.items() if mutant["triton"] == "beside"}
SHORT = {name: mutant for name, mutant in MUTANTS.items() if mutant["triton"] == "files"}
needs_triton = pytest.mark.skipif(
    not (find_spec("pytriton") and shutil.which("cc")), reason="needs the embedded Triton (batchproof[triton]) and cc"
)


def test_there_are_200() -> None:
    """No two are the same, and both verdicts are common."""
    records = recorded()

    assert len({record.config for record in records}) == 200
    assert sum(record.server == ACCEPTED for record in records) >= 50
    assert sum(record.server != ACCEPTED for record in records) >= 50


def test_lint_says_what_the_server_said() -> None:
    """What the server loaded is not invalid, and what it refused is, but for what the record explains."""
    wrong = [
        f"{record}: the server: {record.server} {record.words!r}; lint: {invalid}"
        for record in recorded()
        for invalid in [linted(record.config)[0]]
        if (bool(invalid) == (record.server == ACCEPTED)) != bool(record.explained)
    ]

    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    """The servers that are installed."""
    started = Servers()
    yield started
    started.close()


@needs_triton
@pytest.mark.timeout(300)
def test_the_server_says_what_was_recorded(servers: Servers) -> None:
    """A sample is loaded again, against the server that is installed: what it did not serve, it does not serve."""
    records = [record for record in recorded() if record.server in ("accepted", "refused")]

    def differing(record: Recorded) -> str:
        said = judge_one(servers, record.base, record.model, record.config).server
        same = (said.server == ACCEPTED) == (record.server == ACCEPTED)
        return "" if same else f"{record}: recorded {record.server}, now {said}"

    wrong = [text for record in random.Random(7).sample(records, SAMPLE) if (text := differing(record))]

    assert not wrong, "\n".join(wrong)


def text_of(name: str) -> str:
    """Return the text of a configuration of the suite."""
    return (FOLDER / name).read_text(encoding="utf-8")


def name_in(text: str) -> str:
    """Return the name that a configuration gives its model."""
    found = re.search(r'^name: "(.*)"', text, re.MULTILINE)
    assert found
    return found[1]


@needs_triton
@pytest.mark.timeout(300)
def test_the_server_compares_an_ensemble_with_the_models_of_its_steps(servers: Servers) -> None:
    """It loads the ensemble with its models, and refuses each mutant with the words that the linter has."""
    right, model = text_of("ensemble.pbtxt"), text_of("base.pbtxt")
    answers = {"": servers.empty.ask("pipeline", right.encode(), others={name_in(model): model})}
    for name, mutant in BESIDE.items():
        beside = {name_in(text): text for text in map(text_of, mutant.get("beside", ["base.pbtxt"]))}
        wrong = right.replace(mutant["line"], mutant["wrong"])
        answers[name] = servers.empty.ask("pipeline", wrong.encode(), others=beside)

    assert answers.pop("").how == LOADED
    differing = {name: one for name, one in answers.items() if not _agrees(one, BESIDE[name]["message"])}
    assert len(answers) >= 10
    assert not differing


@needs_triton
@pytest.mark.timeout(120)
@pytest.mark.parametrize("mutant", SHORT.values(), ids=SHORT)
def test_the_server_refuses_a_file_that_is_too_short(servers: Servers, mutant: dict[str, Any]) -> None:
    """It loads the model once the file has all the bytes that the linter asks for, and refuses one byte less."""
    text = text_of(mutant["base"]).replace(mutant["line"], mutant["wrong"])
    (file,) = mutant["files"]
    asked = int(re.search(r"expects (\d+) bytes", mutant["message"])[1])  # type: ignore[index]
    short, whole = (
        servers.python.ask(name_in(text), text.encode(), files={file: bytes(length)}) for length in (asked - 1, asked)
    )

    assert short.how == REFUSED
    assert f"expects {asked} bytes" in short.words
    assert whole.how == LOADED, whole.words


@needs_triton
@pytest.mark.timeout(120)
@pytest.mark.parametrize("file", ["", 'default_model_filename: "model.onnx"'])
def test_a_model_without_a_backend_may_be_one_of_tensorrt(servers: Servers, file: str) -> None:
    """What only TensorRT has is refused where the model's file is named, and is not one of TensorRT's."""
    tensor = "data_type: TYPE_INT32 dims: 3"
    io = f'input {{ name: "I" {tensor} is_shape_tensor: true }} output {{ name: "O" {tensor} }}'
    one = judge_one(servers, "m/config.pbtxt", "m", f'{io} instance_group {{ kind: KIND_CPU profile: "1" }} {file}'.encode())

    assert (one.server.server == ACCEPTED, bool(one.invalid), one.agrees) == (not file, bool(file), True)


@needs_triton
@pytest.mark.timeout(120)
def test_a_repository_agent_is_taken_away(servers: Servers) -> None:
    """Its library is not here, which says nothing about the rest of the configuration."""
    text = 'backend: "x" model_repository_agents { agents { name: "checksum" } } '
    right, wrong = (judge_one(servers, "m/config.pbtxt", "m", f"{text}{one}".encode()) for one in ("", "input { }"))

    assert (right.server.server, right.server.changed, wrong.server.server) == (ACCEPTED, ("repository agents",), "refused")


def _agrees(answer: Answer, message: str) -> bool:
    words = re.sub(r" \((?:not mapped: |its step ).*|; unless.*", "", message)
    return answer.how == REFUSED and words in answer.words
