"""The LitServe adapter: its size, and what it does without a server."""

import runpy
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from batchproof import targets
from batchproof.commands.adapter.lines import adapter_lines
from batchproof.targets.kit import Interpreter
from batchproof.targets.protocol import Request, Target
from batchproof.targets.witness.probe import INFO, Payload, read_log

HALVES = [Path(targets.__file__).with_name(name) for name in ("litserve.py", "litserve_server.py")]
BUDGET = 40
COLUMNS = 125


@pytest.fixture
def adapter():
    pytest.importorskip("litserve", reason="litserve is not installed: pip install 'batchproof[litserve]'")
    from batchproof.targets import litserve

    return litserve


def test_the_adapter_has_40_lines_of_code():
    """Its two halves have them together, with the server, and none of them was made wider to get there."""
    sources = [half.read_bytes() for half in HALVES]

    assert sum(map(adapter_lines, HALVES)) <= BUDGET
    assert max(len(line.partition("  # ")[0]) for source in sources for line in source.decode().splitlines()) <= COLUMNS


def test_litserve_is_found_by_name(adapter):
    """`--target litserve` is this adapter, and says what LitServe does."""
    target = targets.resolve("litserve")

    assert isinstance(target, Target)
    assert (target.info.name, target.info.version) == ("litserve", metadata.version("litserve"))
    assert target.info.claims["delay_anchor"] == "loop-entry"
    assert "rows" not in target.info.claims


def test_the_witness_answers_a_batch(adapter, tmp_path, monkeypatch):
    """In the server's half, it echoes each request of the batch in JSON, and logs in the folder that the server is told."""
    for name, value in Interpreter().environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(tmp_path / "path")
    requests = [Request("r0", 1, Payload(nonce=(1 << 62) - 1)), Request("r1", 2, Payload(rows=2))]
    half = runpy.run_path(str(HALVES[1]))
    api = half["WitnessAPI"](max_batch_size=4)
    api.setup("cpu")

    answers = api.predict([request.tensor().tolist() for request in requests])
    api.witness.witness.close()
    api.witness.close()

    assert [echo for echo, _ in answers] == [request.tensor().tolist() for request in requests]
    assert [np.array(info).shape for _, info in answers] == [(1, len(INFO)), (2, len(INFO))]
    lines, _ = read_log(tmp_path, {})
    entered = [(line["instance"], line["serials"], line["rows"]) for line in lines if "serials" in line]
    assert entered == [(0, [1, 2], [1, 2])]
