"""The imports, read from the source: the folders are the architecture, and this table holds the allowed arrows."""

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
# Each room, bottom to top, and the rooms that it may import. A room within a room has a line of its own. What is not in this
# table is not allowed, and a line that no import needs is an error too.
# (suites may import anything, and no room imports them; what judges a target does not depend on what judges the suite)
TO_LOAD = {"exit_status", "host", "load", "reference_batcher", "reports", "stats", "targets"}
ARROWS: dict[str, set[str]] = {
    "exit_status": set(),
    "host": set(),
    "stats": set(),
    "reference_batcher": set(),
    "reports": {"host", "stats"},
    "targets": {"host", "reference_batcher"},
    "load": {"host", "reference_batcher", "stats", "targets"},
    "fixtures.evidence": {"host", "load", "reports", "stats", "targets"},
    "fixtures.driving": {"fixtures.evidence", "host", "reference_batcher", "reports", "targets"},
    "fixtures.judging": {"fixtures.driving", "fixtures.evidence", "host", "reference_batcher", "stats", "targets"},
    "fixtures": {"fixtures.driving", "fixtures.evidence", "fixtures.judging", *TO_LOAD},
    "bench": TO_LOAD,
    "commands": {"bench", "fixtures", "fixtures.driving", "fixtures.evidence", "fixtures.judging", *TO_LOAD},
    "cli": {"commands", "exit_status", "host"},
    "__main__": {"cli", "exit_status"},
    "suites": {"bench", "fixtures", "fixtures.driving", "fixtures.evidence", "fixtures.judging", *TO_LOAD},
}
PICKLES = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
UNSAFE_CALLS = {
    "eval", "exec", "__import__", "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput",
    "torch.load", "yaml.load", "numpy.load", "np.load",
}
ALLOWED = {(module, "exec") for module in (  # compile our own source, with one line of ours replaced
    "reference_batcher.mutants",
    "suites.selftest.strangers.lanes_and_reels.made",
    "suites.selftest.strangers.sequences.table",
)}  # fmt: skip


@cache
def paths() -> dict[str, Path]:
    """Return the file of every module of the project by the module's name below `batchproof`."""
    folders = {name.partition(".")[0] for name in ARROWS}
    found = [*ROOT.glob("*.py"), *(path for folder in folders for path in (ROOT / folder).rglob("*.py"))]
    written = ROOT / "reports" / "out"  # by hunts, for people
    return {name(path): path for path in sorted(found) if written not in path.parents}


@cache
def modules() -> dict[str, ast.Module]:
    """Return every module of the project, parsed: only when a test runs, because each worker collects these tests."""
    return {name: ast.parse(path.read_text(encoding="utf-8"), str(path)) for name, path in paths().items()}


def name(path: Path) -> str:
    """Return `fixtures.targets` for fixtures/targets/__init__.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(module: str) -> set[str]:
    """Return the full names of all modules that a module imports, anywhere in it; `from a import b` gives a and a.b."""
    found: set[str] = set()
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def _base(module: str, node: ast.ImportFrom) -> str:
    """Return the absolute name of the package that stands after `from`."""
    if not node.level:
        return node.module or ""
    is_package = (ROOT / module.replace(".", "/") / "__init__.py").exists()
    here = ["batchproof", *module.split(".")]
    above = here[: len(here) - node.level + is_package]
    return ".".join([*above, *filter(None, [node.module])])


def room(module: str) -> str:
    """Return the room that a module is in; "" for the package itself, `suites.selftest` for its own tests."""
    if f"{module}.".startswith("suites.selftest."):
        return "suites.selftest"
    return max((one for one in ARROWS if f"{module}.".startswith(f"{one}.")), key=len, default="")


def leaves(names: set[str]) -> set[str]:
    """Return the names without those that are only the package of another.

    `from a import b` counts as b if b is a module.
    """
    return {one for one in names if one in modules() or one.rpartition(".")[0] in modules()}


def reached(module: str) -> set[str]:
    """Return the other rooms that a module imports."""
    ours = leaves({one.removeprefix("batchproof.") for one in imports(module) if one.startswith("batchproof.")})
    packages = {one for one in ours if any(other.startswith(f"{one}.") for other in ours)}
    return {room(one) for one in ours - packages} - {"", room(module)}


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield every call in a module."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def unpickles_nothing(call: ast.Call) -> bool:
    """Return whether a call says `allow_pickle=False`."""
    return any(word.arg == "allow_pickle" and ast.unparse(word.value) == "False" for word in call.keywords)


def test_the_reader_reads() -> None:
    """Relative, absolute and late imports are all seen: a reader that misses imports would find no wrong ones."""
    assert "batchproof.reference_batcher.decisions" in imports("reference_batcher.core")
    assert "batchproof.reference_batcher.execution" in imports("reference_batcher.threaded")
    assert "batchproof.reference_batcher.config" in imports("reference_batcher")
    assert "batchproof.commands.check" in imports("cli.judging")
    assert reached("fixtures.plugin") >= {"fixtures.judging", "host", "reports", "targets"}
    assert len(modules()) > 60


@pytest.mark.parametrize("place", ARROWS)
def test_a_room_imports_only_what_the_table_allows(place: str) -> None:
    """The table allows every arrow, so no arrow runs up and there is no circle."""
    found = {module: reached(module) - ARROWS[place] for module in modules() if room(module) == place}

    assert {module: rooms for module, rooms in found.items() if rooms} == {}


def test_every_module_is_in_a_room() -> None:
    """A folder or a loose module that the table does not know fails this test."""
    loose = {path.stem for path in ROOT.glob("*.py")} - {"__init__", "conftest", *ARROWS}
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - set(ARROWS)

    assert (loose, folders) == (set(), set())


def test_the_table_has_no_circle() -> None:
    """Every room comes before those that import it."""
    done: set[str] = set()
    while ready := {one for one in set(ARROWS) - done if ARROWS[one] <= done}:
        done |= ready

    assert set(ARROWS) - done == set()


@pytest.mark.parametrize("path", sorted((ROOT / "suites" / "selftest").rglob("*/test_*.py")), ids=lambda path: path.stem)
def test_a_test_is_found_by_the_path_of_its_module(path: Path) -> None:
    """`suites/selftest/` mirrors the rooms: test_MODULE.py, or test_MODULE_ASPECT.py, in the folder of its module."""
    folder = ROOT / path.parent.relative_to(ROOT / "suites" / "selftest")
    words = path.stem.split("_")[1:]
    names = ["_".join(words[:count]) for count in range(1, len(words) + 1)]

    assert any((folder / f"{one}.py").exists() or (folder / one / "__init__.py").exists() for one in names)


@pytest.mark.parametrize("module", [one for one in paths() if one.startswith("targets.witness.")])
def test_the_witness_travels_light(module: str) -> None:
    """What runs inside a server imports the standard library, numpy, Triton's own module and what is alongside it."""
    allowed = {*sys.stdlib_module_names, "numpy", "triton_python_backend_utils", "probe", "place"}

    beside = "batchproof.targets.witness"
    roots = {one.partition(".")[0] for one in imports(module) if not f"{one}.".startswith(f"{beside}.")}

    assert roots <= allowed


@pytest.mark.parametrize("module", [one for one in paths() if one.endswith("_server") and one.startswith("targets.")])
def test_a_servers_half_runs_without_batchproof(module: str) -> None:
    """It runs in an environment that has the stack, numpy, and what travels: `batchproof_witness`."""
    assert [one for one in imports(module) if one.partition(".")[0] == "batchproof"] == []
    assert "batchproof_witness" in imports(module)


@pytest.mark.parametrize("module", paths(), ids=lambda module: module or "batchproof")
def test_nothing_runs_text_or_unpacks_objects(module: str) -> None:
    """No pickle, no eval or exec, no shell, and nothing else that turns data into code."""
    unpickling = {one for one in imports(module) if one.partition(".")[0] in PICKLES}
    called = {ast.unparse(call.func) for call in calls(modules()[module]) if not unpickles_nothing(call)} & UNSAFE_CALLS
    shells = [call.lineno for call in calls(modules()[module]) for word in call.keywords
              if word.arg == "shell" and not (isinstance(word.value, ast.Constant) and word.value.value is False)]

    assert unpickling == set()
    assert {(module, one) for one in called} <= ALLOWED
    assert shells == []
