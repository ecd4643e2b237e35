"""Who imports whom, read from the source: the folders are the architecture, and these are its arrows."""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(str(files("batchproof")))
PACKAGES = ("fixtures", "reference_batcher", "reports", "suites")
# The targets deploy the reference batcher, or are configured with its `BatcherConfig`; the matrix runs its mutants; the
# config rules only parse: `parse_pbtxt` and `ConfigError` are protobuf's parser with the message of a mistake. The oracle is
# the reference in simulated time; a bench compares with it, and with the reference itself as one of the peers.
MAY_IMPORT_REFERENCE = (
    "fixtures.targets.", "fixtures.matrix", "fixtures.strength", "fixtures.checkers.config", "fixtures.oracle.",
    "fixtures.bench.",
)
VOCABULARY = "batchproof.reference_batcher.config"  # what a configuration is, to anybody
PARSING = {"batchproof.reference_batcher.config"}
PICKLES = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
UNSAFE_CALLS = {
    "eval", "exec", "__import__", "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput",
    "torch.load", "yaml.load", "numpy.load", "np.load",
}
ALLOWED = {("reference_batcher.mutants", "exec")}  # compiles our own source, with one line of ours replaced


@cache
def modules() -> dict[str, ast.Module]:
    """Return every module of ours by its name below `batchproof`, parsed."""
    paths = [*ROOT.glob("*.py"), *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))]
    return {name(path): ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in sorted(paths)}


def name(path: Path) -> str:
    """Return `fixtures.targets` for fixtures/targets/__init__.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(module: str) -> set[str]:
    """Return the full names of the modules that a module imports, wherever in it; `from a import b` gives a and a.b."""
    found: set[str] = set()
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def _base(module: str, node: ast.ImportFrom) -> str:
    """The absolute name of what stands after `from`."""
    if not node.level:
        return node.module or ""
    is_package = (ROOT / module.replace(".", "/") / "__init__.py").exists()
    here = ["batchproof", *module.split(".")]
    above = here[: len(here) - node.level + is_package]
    return ".".join([*above, *filter(None, [node.module])])


def within(names: set[str], *packages: str) -> set[str]:
    """Those names that are of one of the packages."""
    return {one for one in names for package in packages if f"{one}.".startswith(f"batchproof.{package}.")}


def offenders(among: str, *packages: str) -> dict[str, set[str]]:
    """Return the modules of `among` that import from one of the packages, with what they import."""
    found = {module: within(imports(module), *packages) for module in modules() if f"{module}.".startswith(f"{among}.")}
    return {module: names for module, names in found.items() if names}


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Every call in a module."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def unpickles_nothing(call: ast.Call) -> bool:
    """It says `allow_pickle=False`."""
    return any(word.arg == "allow_pickle" and ast.unparse(word.value) == "False" for word in call.keywords)


def test_the_reader_reads() -> None:
    """Relative, absolute, and late imports are all seen: a reader that sees nothing would find nothing wrong."""
    assert within(imports("reference_batcher.core"), "reference_batcher") >= {"batchproof.reference_batcher.decisions"}
    assert "batchproof.reference_batcher.execution" in imports("reference_batcher.threaded")
    assert "batchproof.reference_batcher.config" in imports("reference_batcher")
    assert "batchproof.fixtures.running" in imports("cli")
    assert len(modules()) > 60


def test_the_reference_stands_alone() -> None:
    """The reference batcher imports nothing of ours outside itself."""
    assert offenders("reference_batcher", "fixtures", "reports", "suites", "cli") == {}


def test_the_rig_knows_the_reference_only_as_a_target() -> None:
    """The rig imports the reference batcher where it is deployed, mutated or used to parse; elsewhere, its `config`."""
    found = offenders("fixtures", "reference_batcher")

    beyond = {module: {one for one in names if not one.startswith(VOCABULARY)} for module, names in found.items()}
    elsewhere = {module: names for module, names in beyond.items()
                 if names and not f"{module}.".startswith(MAY_IMPORT_REFERENCE)}
    parsing = {one for one in found["fixtures.checkers.config"] if one.removesuffix(".parse_pbtxt") in PARSING}

    assert elsewhere == {}
    assert parsing == {"batchproof.reference_batcher.config", "batchproof.reference_batcher.config.parse_pbtxt"}
    assert [module for module in found if module.startswith("fixtures.checkers.config.")] == []


def test_reports_read_files_only() -> None:
    """Reports import neither the rig, nor the suites, nor the reference batcher."""
    assert offenders("reports", "fixtures", "suites", "reference_batcher", "cli") == {}


def test_nobody_imports_the_suites() -> None:
    """The suites are run by pytest: only they import themselves."""
    users = {module for module in modules() if within(imports(module), "suites")}

    assert {module for module in users if not module.startswith("suites.")} == set()


def test_suites_do_not_import_the_selftest() -> None:
    """What judges a target does not lean on what judges the suite."""
    users = {module for module in modules() if within(imports(module), "suites.selftest")}

    assert {module for module in users if not module.startswith("suites.selftest.")} == set()


@pytest.mark.parametrize("module", [one for one in modules() if one.startswith("fixtures.witness.")])
def test_the_witness_travels_light(module: str) -> None:
    """What runs inside a server imports the standard library, numpy, Triton's own module and the probe beside it."""
    allowed = {*sys.stdlib_module_names, "numpy", "triton_python_backend_utils", "probe"}

    roots = {one.partition(".")[0] for one in imports(module)}

    assert roots <= allowed


@pytest.mark.parametrize("module", modules(), ids=lambda module: module or "batchproof")
def test_nothing_runs_text_or_unpacks_objects(module: str) -> None:
    """No pickle, no eval or exec, no shell, and nothing else that turns data into code."""
    unpickling = {one for one in imports(module) if one.partition(".")[0] in PICKLES}
    called = {ast.unparse(call.func) for call in calls(modules()[module]) if not unpickles_nothing(call)} & UNSAFE_CALLS
    shells = [call.lineno for call in calls(modules()[module]) for word in call.keywords
              if word.arg == "shell" and not (isinstance(word.value, ast.Constant) and word.value.value is False)]

    assert unpickling == set()
    assert {(module, one) for one in called} <= ALLOWED
    assert shells == []
