"""What backends add to a configuration: by what their sources do, and by what a real Triton does with Python's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from batchproof.reference_batcher.config import parse_pbtxt
from batchproof.targets.triton import loader
from batchproof.targets.triton.completed import complete
from batchproof.targets.triton.completion import adds_scheduler, adds_tensors, backend_of, fills_tensors, sets_batch_size

MODEL = """class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        {}
        return config

    def execute(self, requests):
        return []
"""
NOTHING = "pass"
TENSORS = """config.add_input({"name": "I", "data_type": "TYPE_FP32", "dims": [3]})
        config.add_output({"name": "O", "data_type": "TYPE_FP32", "dims": [3]})"""
SIZE = "config.set_max_batch_size(4)"
OUTPUT = 'output { name: "O" data_type: TYPE_FP32 dims: 3 }'
SCALAR = f'input {{ name: "I" data_type: TYPE_FP32 dims: 1 reshape {{ }} }} {OUTPUT}'
SCATTER = 'batch_output { kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: "O" source_input: "I" } max_batch_size: 4'
needs_triton = pytest.mark.skipif(
    not (find_spec("pytriton") and shutil.which("cc")), reason="needs the embedded Triton (batchproof[triton]) and cc"
)


@pytest.mark.parametrize(
    ("text", "fills", "inputs", "outputs", "size", "scheduler"),
    [
        ('backend: "pytorch"', False, False, False, False, False),
        ('platform: "ensemble"', False, False, False, False, False),
        ('platform: "tensorflow_graphdef"', False, False, False, False, False),
        ('platform: "tensorflow_savedmodel" input { }', True, True, True, None, None),
        ('platform: "tensorrt_plan" input { }', True, False, True, None, None),
        ('backend: "tensorrt" max_batch_size: 8', True, True, True, False, True),
        ('backend: "onnxruntime" input { } output { }', False, False, False, False, False),
        ('backend: "onnxruntime" batch_input { }', False, False, True, None, None),
        ('backend: "onnxruntime" max_batch_size: 8', False, True, True, False, True),
        ('backend: "openvino" input { } max_batch_size: 8', False, False, True, False, None),
        ('backend: "python" input { } max_batch_size: 8', None, None, None, False, None),
        ('backend: "mine" max_batch_size: 8 dynamic_batching { }', None, None, None, False, False),
        ("max_batch_size: 1", None, None, None, False, False),
    ],
)
def test_backends_differ(
    text: str, fills: bool | None, inputs: bool | None, outputs: bool | None, size: bool | None, scheduler: bool | None
) -> None:
    """Some complete nothing, some what is not listed, some every gap; of others, nothing is known."""
    config = parse_pbtxt(text)

    found = (fills_tensors(config), adds_tensors(config, "input"), adds_tensors(config, "output"))
    assert (*found, sets_batch_size(config), adds_scheduler(config)) == (fills, inputs, outputs, size, scheduler)


def test_a_platform_implies_a_backend() -> None:
    """As far as Triton knows it."""
    assert [backend_of(parse_pbtxt(f'platform: "{one}"')) for one in ("tensorrt_plan", "custom", "")] == ["tensorrt", "", ""]


def test_only_what_a_backend_may_add_is_completed() -> None:
    """The stand-in's configuration is completed as the model's backend might, and no further."""
    gap = 'input { name: "I" }'

    assert [complete(parse_pbtxt(f'backend: "{one}" {gap}')) for one in ("tensorrt", "mine", "pytorch", "onnxruntime")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.fixture(scope="module")
def server() -> Iterator[loader.ConfigurationServer]:
    """A server with the real Python backend."""
    started = loader.ConfigurationServer(python=True)
    yield started
    started.close()


@needs_triton
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f'input {{ name: "I" dims: 3 }} {OUTPUT}', TENSORS),
        (f'input {{ name: "I" data_type: TYPE_FP32 }} {OUTPUT}', TENSORS),
        (SCALAR, SIZE),
        (SCATTER, TENSORS),
    ],
    ids=["type", "shape", "batch size", "tensors"],
)
def test_the_server_judges_what_the_backend_has_completed(
    text: str, code: str, server: loader.ConfigurationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same configuration is refused, or loads because the model's own code adds what is missing."""
    answers = []
    for one in (NOTHING, code):
        monkeypatch.setattr(loader, "MODEL", MODEL.format(one).encode())
        answers.append(server.ask("m", f'backend: "python" {text}'.encode()).how)

    assert answers == [loader.REFUSED, loader.LOADED]


@pytest.mark.parametrize(
    ("python", "said", "how"),
    [
        (True, [loader.ENDED, loader.LOADED], loader.LOADED),
        (True, [loader.ENDED, loader.ENDED], loader.ENDED),
        (False, [loader.ENDED], loader.ENDED),
        (True, [loader.REFUSED], loader.REFUSED),
    ],
    ids=["once", "twice", "the stand-in", "no end"],
)
def test_an_end_of_the_server_counts_if_it_comes_twice(
    python: bool, said: list[str], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's backend now and then ends the server, whatever is loaded; the stand-in does not."""
    server, left = loader.ConfigurationServer(python=python), [*said]
    monkeypatch.setattr(server, "_asked", lambda *_: loader.Answer(left.pop(0)))

    assert (server.ask("m", b"").how, left) == (how, [])
