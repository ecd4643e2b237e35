"""What `lint` learns of the models that lie next to an ensemble."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from batchproof.commands.lint.command import LintOptions, lint
from batchproof.exit_status import ExitStatus

IO = 'input { name: "I" data_type: TYPE_FP32 dims: 3 } output { name: "O" data_type: TYPE_FP32 dims: 3 }\n'
PIPELINE = f"""platform: "ensemble"
{IO}ensemble_scheduling {{
  step {{
    model_name: "a"
    model_version: -1
    input_map {{ key: "X" value: "I" }}
    output_map {{ key: "O" value: "O" }}
  }}
}}
"""
CLASS = "class TritonPythonModel:\n"
CACHE = "response_cache { enable: true }"
DECOUPLED = " model_transaction_policy { decoupled: true }"


def put(path: Path, text: str) -> Path:
    """Write a file and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def linted(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines that lint prints, without those that say what to write instead."""
    lint(LintOptions([str(path)]))
    return [line for line in capsys.readouterr().out.splitlines()[:-1] if not line.startswith(" ")]


@pytest.mark.parametrize(
    ("codes", "rules"),
    [
        ([f"{CLASS}    def auto_complete_config(config): ..."], []),
        ([CLASS], ["CFG-IO-001", "CFG-IO-002"]),
        ([CLASS, f"{CLASS}    def auto_complete_config(config): ..."], ["CFG-IO-001", "CFG-IO-002"]),
        ([], ["CFG-IO-001", "CFG-IO-002"]),
    ],
)
def test_code_that_completes_a_model_may_list_its_tensors(
    codes: list[str], rules: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Python model without inputs and outputs is fine if the code of every version adds some."""
    path = put(tmp_path / "a" / "config.pbtxt", 'backend: "python"')
    for version, code in enumerate(codes, start=1):
        put(tmp_path / "a" / str(version) / "model.py", code)

    assert [line.split()[1] for line in linted(path, capsys)] == rules


@pytest.mark.parametrize(
    ("config", "code", "told"),
    [
        (f'backend: "onnxruntime" {IO}', "", True),
        (f'platform: "pytorch_libtorch" {IO}', "", True),
        (f'backend: "python" {IO}', CLASS, True),
        (f'backend: "python" {IO}', f"{CLASS}    def auto_complete_config(config): ...", False),
        (f'backend: "python" default_model_filename: "other.py" {IO}', CLASS, False),
        (f'backend: "python" {IO}', "", False),
        (f'backend: "mine" {IO}', "", False),
        ('backend: "onnxruntime" output { name: "O" data_type: TYPE_FP32 dims: 3 }', "", False),
        (f'backend: "onnxruntime" {IO} input {{', "", False),
    ],
)
def test_only_what_nobody_completes_is_compared(
    config: str, code: str, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backend, or the code of a Python model, may add tensors to what the file lists."""
    path = put(tmp_path / "e" / "config.pbtxt", PIPELINE)
    put(tmp_path / "a" / "config.pbtxt", config)
    if code:
        put(tmp_path / "a" / "1" / "model.py", code)

    lines = linted(path, capsys)

    assert [line.split(": ")[1] for line in lines] == ["CFG-ENS-010 invalid"] * told
    assert all(line.startswith(f"{path}:7:5: ") for line in lines)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (CLASS, "CFG-IO-005 invalid"),
        ("class TritonPythonModel():\n", "CFG-IO-005 invalid"),
        (f"{CLASS}    def auto_complete_config(config): ...", "CFG-IO-015 hazardous"),
        ("class TritonPythonModel(Base):\n", "CFG-IO-015 hazardous"),
        ("from elsewhere import TritonPythonModel\n", "CFG-IO-015 hazardous"),
        ("", "CFG-IO-015 hazardous"),
    ],
)
def test_the_models_own_code_tells_whether_it_completes(
    code: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server refuses a tensor without a shape, unless the code of the Python model adds one."""
    path = put(tmp_path / "a" / "config.pbtxt", f'backend: "python" {IO.replace("dims: 3 }", "}", 1)}')
    if code:
        put(tmp_path / "a" / "1" / "model.py", code)

    assert [line.split(": ")[1] for line in linted(path, capsys)] == [told]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (f"# has no auto_complete_config\n{CLASS}", "invalid"),
        (f'{CLASS}    """There is no auto_complete_config here."""\n', "invalid"),
        (f"{CLASS}    auto_complete_config = other\n", "hazardous"),
        (f"{CLASS}    pass\nsetattr(TritonPythonModel, 'auto_complete_config', other)\n", "hazardous"),
        (f"{CLASS}    pass\nfrom other import x as auto_complete_config\n", "hazardous"),
        (f"print 'not this Python: auto_complete_config'\n{CLASS}    pass\n", "hazardous"),
        (f"# auto_complete_config\nx = '\\d'\n{CLASS}    pass\n", "invalid"),
        (f"# auto_complete_config\nx = {'(' * 10_000}\n{CLASS}    pass\n", "hazardous"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_comment_completes_nothing(code: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The code is read as Python, where it can be: only a name, or a text that may become one, can complete the model."""
    code = code if "pass" in code or "    " in code else f"{code}    pass\n"
    path = put(tmp_path / "a" / "config.pbtxt", f'backend: "python" {IO.replace("dims: 3 }", "}", 1)}')
    put(tmp_path / "a" / "1" / "model.py", code)

    (line,) = linted(path, capsys)

    assert f" {told}: " in line


@pytest.mark.parametrize(
    ("config", "file", "invalid"),
    [
        ("", "model.plan", False),
        ("", "model.onnx", True),
        ("", "", False),
        ('default_model_filename: "model.plan"', "", False),
        ('default_model_filename: "model.pt"', "", True),
        ('backend: "onnxruntime"', "model.plan", True),
        ('backend: "tensorrt"', "model.onnx", False),
    ],
)
@pytest.mark.parametrize(
    "of_tensorrt",
    [
        f'{IO} instance_group {{ profile: "1" }}',
        IO.replace("FP32", "INT32").replace("3 }", "3 is_shape_tensor: true }", 1),
        IO.replace("dims: 3", "dims: [ 4, 4, 4 ]").replace("] }", "] is_non_linear_format_io: true }"),
    ],
    ids=["profile", "shape tensor", "non-linear"],
)
def test_a_guessed_backend_may_be_tensorrt(
    config: str, file: str, invalid: bool, of_tensorrt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a backend, the name of the model's file decides whether it may have what only TensorRT has."""
    path = put(tmp_path / "a" / "config.pbtxt", f"{config} {of_tensorrt}")
    if file:
        put(tmp_path / "a" / "1" / file, "")

    assert any("TensorRT" in line for line in linted(path, capsys)) == invalid


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ('backend: "tensorrt" max_batch_size: 8', ["data type"]),
        ('backend: "dali"', ["data type"]),
        ('backend: "python"', ["data type"]),
        ('backend: "mine"', []),
    ],
)
def test_types_that_are_listed_are_kept(
    model: str, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backend of Triton's own may add tensors, but changes none that is listed."""
    path = put(tmp_path / "e" / "config.pbtxt", PIPELINE.replace('"X"', '"I"').replace(IO, "max_batch_size: 8 " + IO))
    put(tmp_path / "a" / "config.pbtxt", f"{model} {IO.replace('FP32', 'FP16')}")
    put(tmp_path / "a" / "1" / "model.py", f"{CLASS}    def auto_complete_config(config): ...")

    found = [line.split("inconsistent ")[1].split(":")[0] for line in linted(path, capsys) if "inconsistent" in line]

    assert sorted(set(found)) == told


@pytest.mark.parametrize(("size", "told"), [("max_batch_size: 8", ["shape"]), ("max_batch_size: 0", [])])
def test_a_shape_is_compared_where_the_batch_size_is_known(
    size: str, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """TensorRT may complete a batch size of 0, and then the shapes are others."""
    path = put(tmp_path / "e" / "config.pbtxt", PIPELINE.replace('"X"', '"I"').replace(IO, "max_batch_size: 8 " + IO))
    put(tmp_path / "a" / "config.pbtxt", f'backend: "tensorrt" {size} {IO.replace("dims: 3", "dims: [ 8, 4 ]")}')

    found = [line.split("inconsistent ")[1].split(":")[0] for line in linted(path, capsys) if "inconsistent" in line]

    assert sorted(set(found)) == told


def test_versions_are_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The version policy of the step's model decides which of them are served."""
    path = put(tmp_path / "e" / "config.pbtxt", PIPELINE.replace("-1", "1"))
    put(tmp_path / "a" / "config.pbtxt", "")
    assert linted(path, capsys) == []
    for version in ("1", "12"):
        put(tmp_path / "a" / version / "model.onnx", "")

    assert ["CFG-ENS-014" in line for line in linted(path, capsys)] == [True]
    for policy in ("all { }", "latest { num_versions: 2 }", "specific { versions: 1 }"):
        put(tmp_path / "a" / "config.pbtxt", f"version_policy {{ {policy} }}")
        assert linted(path, capsys) == []


def test_a_missing_model_is_hazardous(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told where the ensemble could be served otherwise, and does not fail: another folder may have the model."""
    path = put(tmp_path / "e" / "config.pbtxt", PIPELINE)
    put(tmp_path / "b" / "config.pbtxt", "")
    assert linted(path, capsys) == []
    put(tmp_path / "e" / "1" / ".keep", "")
    assert ["CFG-ENS-016 hazardous" in line for line in linted(path, capsys)] == [True]
    (tmp_path / "a" / "1").mkdir(parents=True)  # a model without a configuration of its own
    assert linted(path, capsys) == []


def test_what_cannot_be_read_tells_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe, a folder or a circle of links in a model's place does not stop lint."""
    path = put(tmp_path / "e" / "config.pbtxt", PIPELINE)
    (tmp_path / "a").mkdir()
    config = tmp_path / "a" / "config.pbtxt"
    os.mkfifo(config)
    assert linted(path, capsys) == []
    config.unlink()
    config.symlink_to(config)
    assert linted(path, capsys) == []
    config.unlink()
    config.mkdir()
    assert linted(path, capsys) == []
    assert lint(LintOptions([str(path)])) is ExitStatus.FINE


def test_an_ensemble_is_decoupled_by_a_step_of_a_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A response cache is refused for it, however deep the decoupled model lies; one that is not known tells nothing."""
    path = put(tmp_path / "outer" / "config.pbtxt", PIPELINE.replace('"a"', '"inner"').replace("X", "I") + CACHE)
    put(tmp_path / "inner" / "config.pbtxt", PIPELINE)
    step = 'backend: "python" ' + IO.replace('"I"', '"X"')
    put(tmp_path / "a" / "1" / "model.py", CLASS)
    put(tmp_path / "a" / "config.pbtxt", step)
    assert linted(path, capsys) == []

    put(tmp_path / "a" / "config.pbtxt", step + DECOUPLED)
    (line,) = linted(path, capsys)
    assert "CFG-CACHE-002 invalid" in line
    assert "(its step of model a is decoupled)" in line

    put(tmp_path / "a" / "config.pbtxt", step.replace("python", "mine") + DECOUPLED)
    assert linted(path, capsys) == []


def test_answers_of_inner_ensembles_have_an_origin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A step may not join what a decoupled model and an ensemble with one have answered."""
    steps = """
  step { model_name: "inner" model_version: -1 input_map { key: "I" value: "I" } output_map { key: "O" value: "P" } }
  step { model_name: "a" model_version: -1 input_map { key: "X" value: "I" } output_map { key: "O" value: "Q" } }
  step {
    model_name: "c" model_version: -1
    input_map { key: "X" value: "P" } input_map { key: "Y" value: "Q" } output_map { key: "O" value: "O" }
  }
"""
    path = put(tmp_path / "outer" / "config.pbtxt", f'platform: "ensemble" {IO} ensemble_scheduling {{ {steps} }}')
    put(tmp_path / "inner" / "config.pbtxt", PIPELINE)
    step = 'backend: "python" ' + IO.replace('"I"', '"X"')
    for name, more in (("a", DECOUPLED), ("c", 'input { name: "Y" data_type: TYPE_FP32 dims: 3 }')):
        put(tmp_path / name / "config.pbtxt", step + more)
        put(tmp_path / name / "1" / "model.py", CLASS)

    (line,) = linted(path, capsys)
    assert "CFG-ENS-015 invalid" in line


def test_an_output_that_a_step_lists_twice_is_written_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The server counts the outputs of the step's model; what is not mapped does not count."""
    path = put(tmp_path / "pipeline" / "config.pbtxt", PIPELINE)
    step = 'backend: "python" ' + IO.replace('"I"', '"X"')
    put(tmp_path / "a" / "1" / "model.py", CLASS)
    put(tmp_path / "a" / "config.pbtxt", step + 'output { name: "Z" data_type: TYPE_FP32 dims: 3 } ' * 2)
    assert linted(path, capsys) == []

    put(tmp_path / "a" / "config.pbtxt", step + 'output { name: "O" data_type: TYPE_FP32 dims: 3 }')
    (line,) = linted(path, capsys)
    assert "CFG-ENS-003 invalid" in line
    assert "multiple outputs in model a are mapped to the same ensemble tensor O" in line
