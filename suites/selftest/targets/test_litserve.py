"""The LitServe adapter: its size, and what it does without a server."""

import ast
import runpy
import tokenize
from importlib import metadata
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from batchproof import targets
from batchproof.targets.kit import Interpreter
from batchproof.targets.protocol import Request, Target
from batchproof.targets.witness.probe import INFO, Payload, read_log

HALVES = [Path(targets.__file__).with_name(name) for name in ("litserve.py", "litserve_server.py")]
BUDGET = 40
COLUMNS = 125
LAYOUT = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENCODING", "ENDMARKER"}
SOURCE = b'''"""Doc."""

import os


def join():  # why
    """Doc
    string."""
    return os.path.join("a",
                        "b")
'''


@pytest.fixture
def adapter():
    pytest.importorskip("litserve", reason="litserve is not installed: pip install 'batchproof[litserve]'")
    from batchproof.targets import litserve

    return litserve


def code_lines(source: bytes) -> set[int]:
    """Return the lines that hold code: no blank line, comment, docstring or import."""
    lines = set()
    for token in tokenize.tokenize(BytesIO(source).readline):
        if tokenize.tok_name[token.type] not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if text or isinstance(node, ast.Import | ast.ImportFrom):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def test_lines_are_counted():
    """Only code counts, and a statement over two lines counts twice."""
    assert sorted(code_lines(SOURCE)) == [6, 9, 10]


def test_the_adapter_has_40_lines_of_code():
    """Its two halves have them together, with the server, and none of them was made wider to get there."""
    sources = [half.read_bytes() for half in HALVES]

    assert sum(len(code_lines(source)) for source in sources) <= BUDGET
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
