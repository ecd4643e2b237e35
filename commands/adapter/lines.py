"""`batchproof lab adapter-lines`: the lines of code of each adapter, as in the table of docs/adapters.md."""

from __future__ import annotations

import ast
import tokenize
from importlib.resources import files
from io import BytesIO
from pathlib import Path

ROOT = Path(str(files("batchproof")))
LAYOUT = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENCODING", "ENDMARKER"}
TABLES = {"CLAIMS", "HOW"}  # what the stack promises, and how to install it: not code
STACKS = {
    "async-batcher": "targets/stacks/async_batcher",
    "batched": "targets/stacks/batched",
    "BentoML": "targets/stacks/bentoml",
    "KServe": "targets/stacks/kserve",
    "LitServe": "targets/litserve",
    "MLServer": "targets/stacks/mlserver",
    "Mosec": "targets/stacks/mosec",
    "PyTriton": "targets/stacks/pytriton",
    "Ray Serve": "targets/stacks/ray",
    "TorchServe": "targets/stacks/torchserve",
}


def code_lines(source: bytes) -> set[int]:
    """Return the lines that hold code: no blank line, comment, docstring or import."""
    lines = set()
    for token in tokenize.tokenize(BytesIO(source).readline):
        if tokenize.tok_name[token.type] not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.Expr) and _is_text(node.value)):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def adapter_lines(path: Path) -> int:
    """Return how many lines of code a file has without its table of claims."""
    source = path.read_bytes()
    lines = code_lines(source)
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and {getattr(one, "id", "") for one in node.targets} & TABLES:
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def halves(stem: str) -> list[Path]:
    """Return the files of an adapter: its client's half, and its server's half if it has one."""
    return [path for path in (ROOT / f"{stem}.py", ROOT / f"{stem}_server.py") if path.exists()]


def row(stack: str, stem: str) -> str:
    """Return an adapter's row of the table."""
    links = ", ".join(f"[`{path.name}`](../{path.relative_to(ROOT)})" for path in halves(stem))
    return f"| {stack} | {links} | {' + '.join(str(adapter_lines(path)) for path in halves(stem))} |"


def print_rows() -> None:
    """Print the row of each adapter."""
    print("\n".join(row(stack, stem) for stack, stem in STACKS.items()))
