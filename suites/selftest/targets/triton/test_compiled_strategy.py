"""Where Triton finds a library for custom batching, and what it does with one that is broken: the embedded server."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.script import Send, gated
from batchproof.fixtures.run import run_suite
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import resolve
from batchproof.targets.protocol import TargetError, UnknownTarget
from batchproof.targets.triton.compiled import strategy_library
from batchproof.targets.triton.embedded import EmbeddedServer, embedded_triton, own_strategy
from batchproof.targets.triton.reported import with_reports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

THERE = find_spec("pytriton") and shutil.which("cc")
needs_triton = pytest.mark.skipif(not THERE, reason="needs the embedded Triton (batchproof[triton]) and a C compiler")
CONFIG = """backend: "python" max_batch_size: 4 dynamic_batching {} instance_group { kind: KIND_CPU }
input { name: "IN" data_type: TYPE_INT64 dims: 1 } output { name: "OUT" data_type: TYPE_INT64 dims: 1 }
"""
MODEL = b"""class TritonPythonModel:
    def execute(self, requests):
        return []
"""
CRASHES = """
void* TRITONBACKEND_ModelBatcherInitialize(void** batcher, void* model) { return (void)model, *batcher = 0, (void*)0; }
void* TRITONBACKEND_ModelBatcherFinalize(void* batcher) { return (void)batcher, (void*)0; }
void* TRITONBACKEND_ModelBatchInitialize(void* batcher, void** record) { return (void)batcher, *record = 0, (void*)0; }
void* TRITONBACKEND_ModelBatchFinalize(void* record) { return (void)record, (void*)0; }
void* TRITONBACKEND_ModelBatchIncludeRequest(void* request, void* record, _Bool* include) {
  return (void)request, (void)record, (void)include, *(void**)0x8;
}
"""


def library(folder: Path, source: str) -> Path:
    """Compile a library."""
    made = folder / "batchstrategy.so"
    command = [str(shutil.which("cc")), "-shared", "-fPIC", "-x", "c", "-o", str(made), "-"]
    subprocess.run(command, input=source, text=True, check=True)
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    """Return a server."""
    one = EmbeddedServer()
    yield one
    one.stop()


@pytest.fixture
def load(server: EmbeddedServer) -> Iterator[Callable[..., str]]:
    """`load(config, files)` loads a model and returns what the server says: `loaded PATH`, or why it refused."""
    from tritonclient.grpc import InferenceServerClient
    from tritonclient.utils import InferenceServerException

    client = InferenceServerClient(server.grpc)

    def load(config: str = "", files: dict[str, bytes] | None = None) -> str:
        server.write({"m/config.pbtxt": (CONFIG + config).encode(), "m/1/model.py": MODEL})
        server.write({f"m/{name}": content for name, content in (files or {}).items()})
        before = server.log()
        try:
            client.load_model("m")
        except InferenceServerException as error:
            return str(error)
        found = re.findall(r"Loading custom batching strategy library (\S+) for model m", server.log_after(before))
        return "loaded " + " ".join(path.replace(str(server.folder), "") for path in found)

    yield load
    client.unload_model("m")
    server.remove("m")
    (server.folder / "backends" / "python" / "batchstrategy.so").unlink(missing_ok=True)
    client.close()


@needs_triton
@pytest.mark.parametrize(
    ("places", "found"),
    [
        ("", ""),
        ("1", "/models/m/1/batchstrategy.so"),
        (".", "/models/m/batchstrategy.so"),
        ("backend", "/backends/python/batchstrategy.so"),
        ("backend . 1", "/models/m/1/batchstrategy.so"),
        ("backend .", "/models/m/batchstrategy.so"),
    ],
)
def test_where_it_is_found(load: Callable[..., str], server: EmbeddedServer, places: str, found: str) -> None:
    """In the folder of the version, of the model, of the backend, in this order."""
    if "backend" in places:
        (server.folder / "backends" / "python" / "batchstrategy.so").write_bytes(strategy_library())
    files = {f"{place}/batchstrategy.so": strategy_library() for place in places.split() if place != "backend"}

    assert load(files=files) == f"loaded {found}"


@needs_triton
def test_a_parameter_comes_first(load: Callable[..., str], tmp_path: Path) -> None:
    """TRITON_BATCH_STRATEGY_PATH names any file; 2.51.0 does not ask whether it is inside the repository."""
    outside = tmp_path / "mine.so"
    outside.write_bytes(strategy_library())
    named = 'parameters { key: "TRITON_BATCH_STRATEGY_PATH" value { string_value: "%s" } }'

    assert load(named % outside, {"1/batchstrategy.so": strategy_library()}) == f"loaded {outside}"
    assert f"Batching library path not found: {tmp_path}/none.so" in load(named % (tmp_path / "none.so"))


@needs_triton
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("int nothing;", "loaded /models/m/1/batchstrategy.so"),
        ("not a library", "file too short|invalid ELF header"),
    ],
    ids=["none of the functions", "no library"],
)
def test_a_library_that_is_none(load: Callable[..., str], tmp_path: Path, source: str, said: str) -> None:
    """Without any of the functions it is loaded and not used. (With some of them the server hangs: F-2026-20.)"""
    content = library(tmp_path, source).read_bytes() if ";" in source else source.encode()

    assert re.search(said, load(files={"1/batchstrategy.so": content}))


@needs_triton
def test_a_library_that_fails_to_begin(load: Callable[..., str]) -> None:
    """Its words are the reason for which the model does not load."""
    broken = CONFIG + 'parameters { key: "batch_strategy" value { string_value: "broken" } }'

    assert "the strategy was asked to fail" in load(broken[len(CONFIG) :], {"1/batchstrategy.so": strategy_library()})


@needs_triton
def test_a_library_of_the_users(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`triton?strategy=PATH` gives it to every model; one that ends the server ends the run, and the report is kept."""
    path = library(tmp_path, CRASHES)
    options = [f"--target=triton?strategy={path}", "--bp-rules=DB-RESULT-001", f"--bp-report={tmp_path / 'report'}"]

    status = run_suite(options)

    said = capfd.readouterr().out
    assert int(status) == 1, said
    assert "tritonserver was killed by SIGSEGV" in said
    assert "with the strategy library that you gave it, " in said
    assert (tmp_path / "report" / "report.html").is_file()


def test_a_file_that_is_none(tmp_path: Path) -> None:
    """It is refused before a server is started, by name."""
    empty = tmp_path / "empty.so"
    empty.write_bytes(b"\x7fELF TRITONBACKEND_ModelBatchFinalize")

    with pytest.raises(UnknownTarget, match=r"cannot read the library \(No such file or directory\)"):
        own_strategy(str(tmp_path / "none.so"))
    with pytest.raises(UnknownTarget, match="does not define TRITONBACKEND_ModelBatcherInitialize, "):
        embedded_triton(str(empty))


@needs_triton
def test_the_library_and_the_objects_decide_alike() -> None:
    """The same strategies on Triton and on the reference: the same batches, and the same answers of each hook."""
    volumes = (64, 40, 16, 1, 32, 7, 3, 0, 96, 97)
    triton, reference = resolve("triton"), resolve("virtual")
    try:
        for strategy in ("volume:96", "alone", "first"):
            sends = (Send(f"r{at}", volume=volume) for at, volume in enumerate(volumes[:9]))
            case = Case(BatcherConfig(strategy=strategy, max_queue_size=100), gated(*sends))
            seen = [[timeline.names(run) for run in timeline.executions] for timeline in
                    (run_case(triton, case), run_case(reference, case))]  # fmt: skip
            assert seen[0] == seen[1], strategy
    finally:
        triton.close()
        reference.close()


def test_the_servers_log_is_told_once() -> None:
    """Each failure of a hook that the server has logged for this model is one line, in the order of the log."""
    words = "Custom batching include function failed for model"
    said = [f'E "{words} m: seven"', f"E {words} n: no"]
    raised = [{"hook": "include", "error": "seven"}]
    log = with_reports(lambda: raised if len(said) == 2 else [], lambda: "\n".join(said), "m")

    first: list[Any] = log()
    said.append("E Custom batching finalization function failed for model m: eight")

    assert first[1:] == [{"hook": "reported", "error": "seven"}]
    assert log() == [{"hook": "reported", "error": "eight"}]


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    strategy_library.cache_clear()

    with pytest.raises(TargetError, match=r"a batching strategy for Triton needs a C compiler.*: install gcc"):
        strategy_library()
