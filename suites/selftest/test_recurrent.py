"""The example of a recurrent model: what it serves to many sequences at once is what each gets alone."""

from __future__ import annotations

import runpy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "docs" / "examples" / "recurrent" / "recurrent.py"

pytestmark = [
    pytest.mark.skipif(not PROGRAM.is_file(), reason="no docs here: the documentation is not installed"),
    pytest.mark.skipif(not find_spec("torch"), reason="the extra `reference` (torch) is not installed"),
]
needs_triton = pytest.mark.skipif(not find_spec("pytriton"), reason="needs the embedded Triton (batchproof[triton])")


@pytest.fixture
def program() -> dict[str, Any]:
    """Return the names of the program."""
    return runpy.run_path(str(PROGRAM))


@pytest.mark.parametrize("target", ["reference", pytest.param("triton", marks=needs_triton)])
def test_each_sequence_gets_its_own_outputs(
    program: dict[str, Any], capsys: pytest.CaptureFixture[str], target: str
) -> None:
    """Five sequences with three slots, on the reference batcher and on the embedded Triton."""
    try:
        status = program["main"](target)
    except Exception as error:
        if "Socket closed" not in str(error):  # Triton 2.51.0 may die when it loads a Python model (F-2026-35)
            raise
        status = program["main"](target)

    assert (status, "5 sequences, 24 steps in" in capsys.readouterr().out) == (0, True)


def test_a_state_of_another_sequence_is_noticed(program: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """The comparison is not content with any outputs: those of a neighbour are told."""
    alone, main = program["alone"], program["main"]
    swapped = {5: alone(5), 6: alone(6), 7: alone(7), 8: alone(8), 9: alone(6)[:3]}
    main.__globals__["by_reference"] = lambda: (swapped, "1 batches")

    assert main("reference") == 1
    assert "the outputs differ by up to" in capsys.readouterr().out
