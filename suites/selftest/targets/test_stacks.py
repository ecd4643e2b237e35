"""The adapters of stacks that run as servers of their own: what they do where the stack is not installed, and their size."""

from importlib import metadata
from pathlib import Path

import pytest

from batchproof import targets
from batchproof.commands.adapter.lines import adapter_lines
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import problems
from batchproof.targets.protocol import Misuse, Refused, TargetError, Unsupported
from batchproof.targets.stacks import bentoml, kserve, mlserver, ray
from batchproof.targets.witness.probe import COLUMNS, INFO

STACKS = {"bentoml": bentoml, "kserve": kserve, "mlserver": mlserver, "ray": ray}
FOLDER = Path(targets.__file__).parent / "stacks"
BUDGET, SERVER_BUDGET = 40, 40


def absent(name: str) -> bool:
    """Return whether this interpreter lacks the stack."""
    try:
        return not metadata.version(name)
    except metadata.PackageNotFoundError:
        return True


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_that_is_missing_is_named_with_the_way_to_install_it(name, tmp_path, monkeypatch):
    """Who asks for a stack without having it reads what to install, and how to name the interpreter that has it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # an environment that was made for it would be found
    if not absent(name):
        pytest.skip(f"{name} is installed here")

    with pytest.raises(TargetError) as caught:
        targets.resolve(name)

    assert f"does not have {name}" in str(caught.value)
    assert f"--target '{name}?python=" in str(caught.value)


@pytest.mark.parametrize("name", STACKS)
def test_the_claims_are_claims(name):
    """Each claim exists, and has a value that it can have."""
    assert problems(STACKS[name].CLAIMS) == []


@pytest.mark.parametrize("name", STACKS)
def test_an_adapter_has_40_lines_of_code(name):
    """Each half of an adapter stays below 40 lines, apart from its claims and what says how to install the stack."""
    assert adapter_lines(FOLDER / f"{name}.py") <= BUDGET
    assert adapter_lines(FOLDER / f"{name}_server.py") <= SERVER_BUDGET


def test_mlserver_has_two_wires():
    """MLServer is judged over gRPC, or over HTTP, and nothing else."""
    with pytest.raises(Misuse, match="wire=grpc and wire=http, not 'carrier-pigeon'"):
        mlserver.MLServerTarget(wire="carrier-pigeon")


def test_a_row_of_bentoml_is_echo_and_info():
    """BentoML answers with one array, so the adapter takes it apart again."""
    row = list(range(len(COLUMNS) + len(INFO)))

    echo, info = bentoml.split([row])

    assert echo == [row[: len(COLUMNS)]]
    assert info == [row[len(COLUMNS) :]]


def test_kserve_s_errors_are_refusals():
    """An error of KServe has a kind, so that a rule can tell a failed model from a lost server."""
    assert issubclass(Refused, Exception)
    assert kserve.http_kind(kserve.HttpError(500, "WitnessError")).value == "failed"


def test_bentoml_has_no_batch_of_one():
    """`@bentoml.api` refuses a max_batch_size of 1, so no server is started to find that out."""
    target = object.__new__(bentoml.BentoMLTarget)

    with pytest.raises(Unsupported, match="smallest_batch"):
        target.deploy(BatcherConfig(max_batch_size=1))
