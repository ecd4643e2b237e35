"""Sequences over streams and connections: the verdicts do not depend on how requests arrive, and nothing stays behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.fixtures.run import results_of
from batchproof.reference_batcher import BatcherConfig, SequenceBatching
from batchproof.targets.protocol import Request
from batchproof.targets.triton.target import running_triton
from batchproof.targets.witness.probe import Payload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

WIRES = "batchproof.suites.selftest.targets.triton.wires"
RULES = "SB-CONTROL-*,SB-END-*,SB-ERROR-*,SB-STATE-*"
FAMILIES = "DB-SIZE-00[136],DB-RESULT-*,DB-ERROR-00[12],CU-LIMIT-00[1345],DP-ENSEMBLE-00[123]"
SPLIT = {"DB-RESULT-004"}  # no request is split there
LEFT_OUT = {"SB-STATE-007"}  # it cancels a single request, which a stream and HTTP cannot
CLIENT = """
import sys, time
import numpy as np
import tritonclient.grpc as triton
client = triton.InferenceServerClient(sys.argv[1])
tensor = triton.InferInput("IN", [1, int(sys.argv[3])], "INT64")
tensor.set_data_from_numpy(np.zeros((1, int(sys.argv[3])), np.int64))
client.infer(sys.argv[2], [tensor], sequence_id=5, sequence_start=True)
print("begun", flush=True)
time.sleep(60)
"""

pytestmark = pytest.mark.skipif(
    not (find_spec("pytriton") and shutil.which("cc")), reason="needs the embedded Triton (batchproof[triton]) and cc"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server that runs already."""
    from batchproof.targets.triton.embedded import EmbeddedServer

    running = EmbeddedServer()
    yield running
    running.stop()


@pytest.mark.parametrize("wire", ["streams", "each_its_own", "by_turns", "http"])
def test_the_verdicts_do_not_depend_on_the_way(wire: str) -> None:
    """A stream or a connection for each sequence, connections by turns, HTTP: every rule holds as over single calls."""
    results = _judged(wire, RULES)

    assert [(one["rule"], one["verdict"], one["actual"]) for one in _open(results) if one["rule"] not in LEFT_OUT] == []
    assert len(results) > 20


def test_every_family_has_the_same_verdicts_over_http() -> None:
    """A sample of rules about dynamic and custom batching and about deployments: they pass, as over gRPC."""
    results = _judged("http", FAMILIES)

    assert [(one["rule"], one["verdict"], one["actual"]) for one in _open(results) if one["rule"] not in SPLIT] == []
    assert {one["rule"][:3] for one in results} == {"DB-", "CU-", "DP-"}


def _judged(wire: str, rules: str) -> Sequence[Mapping[str, Any]]:
    """Judge by rules. On a busy host the server may die while it loads a model (F-2026-35): then judge again, once."""
    results = results_of(f"{WIRES}:{wire}", f"--bp-rules={rules}")
    died = any(one["verdict"] == "ERROR" for one in results)
    return results_of(f"{WIRES}:{wire}", f"--bp-rules={rules}") if died else results


def _open(results: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [one for one in results if one["verdict"] != "PASS"]


def target_of(server: Any) -> Any:
    """Return the target that a user of this server would name."""
    return running_triton(f"grpc://{server.grpc}?metrics={server.metrics.rpartition(':')[2]}")


def processes(server: Any) -> list[str]:
    """Return the names of the server's processes: the server, and one for each instance of a Python model."""
    command = ["ps", "-o", "comm=", "-g", str(server.process_group)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_a_run_that_ends_with_open_sequences_leaves_nothing(server: Any, strategy: str) -> None:
    """Sequences that may be idle for an hour are open when the run ends; the models are unloaded all the same."""
    target = target_of(server)
    batching = SequenceBatching(strategy, max_sequence_idle_ns=3_600_000_000_000)
    deployment = target.deploy(BatcherConfig(max_batch_size=2, sequence=batching))
    deployment.submit(Request("open", 1, Payload(sequence=5, start=True))).result(timeout=30)

    deployment.finish()
    target.close()

    deadline = time.monotonic() + 60
    while len(processes(server)) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(processes(server)) == 1


def test_the_slot_of_a_client_that_dies_is_free_again(server: Any) -> None:
    """The client is killed in mid-sequence; another sequence, which waits for the only slot, is served."""
    target = target_of(server)
    batching = SequenceBatching("direct", max_sequence_idle_ns=500_000_000)
    deployment = target.deploy(BatcherConfig(max_batch_size=1, sequence=batching))
    columns = Request("x", 1).tensor().shape[1]
    command = [sys.executable, "-c", CLIENT, server.grpc, deployment.name, str(columns)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == "begun\n"
        client.kill()

    answer = deployment.submit(Request("next", 2, Payload(sequence=6, start=True, end=True))).result(timeout=60)

    assert answer.info is not None
    deployment.finish()
    target.close()
