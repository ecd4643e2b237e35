"""The package under test: the wheel holds exactly what the tree holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

from batchproof import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PACKAGES = tuple(sorted(path.parent.name for path in ROOT.glob("*/__init__.py")))
TO_READ = {".md", ".pyc"}  # about the tree, or made from it
UNWANTED = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "out", "docs")

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="not a checkout: there is nothing to build")


def tree() -> set[str]:
    """Return the files to be shipped, by their paths below `batchproof`."""
    below = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if "out" not in path.parts]
    shipped = [path for path in below if path.suffix not in TO_READ and path.is_file()]
    return {path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.py"), ROOT / "py.typed", *shipped)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel from a copy, so that no build folder is left in the tree."""
    for module in ("build", "setuptools"):
        pytest.importorskip(module, reason=f"the extra `selftest` ({module}) is not installed")
    copy, out = tmp_path_factory.mktemp("source") / "batchproof", tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, copy, ignore=UNWANTED)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(copy)]
    built = subprocess.run(command, cwd=out, capture_output=True, text=True, timeout=90, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_the_tree(wheel: zipfile.ZipFile) -> None:
    """Every module and data file of the packages is in the wheel, and nothing else is."""
    names = [name for name in wheel.namelist() if ".dist-info/" not in name]

    held = {name.removeprefix("batchproof/") for name in names}

    assert {name for name in names if not name.startswith("batchproof/")} == set()
    assert sorted(held - tree()) == []
    assert sorted(tree() - held) == []


def test_the_wheel_is_found_by_pytest_and_by_the_shell(wheel: zipfile.ZipFile) -> None:
    """The wheel has this version, the command and the pytest plugin, and one top-level name."""
    folder = f"batchproof-{__version__}.dist-info"

    points = wheel.read(f"{folder}/entry_points.txt").decode()
    names = wheel.read(f"{folder}/top_level.txt").decode().split()

    assert "batchproof = batchproof.__main__:main" in points
    assert "batchproof = batchproof.fixtures.plugin" in points
    assert names == ["batchproof"]


@pytest.mark.parametrize("command", ["check", "pytest"])
def test_an_environment_may_lie_inside_a_checkout(wheel: zipfile.ZipFile, tmp_path: Path, command: str) -> None:
    """A checkout is called `batchproof`, as the package is; what is installed below it judges all the same."""
    checkout, installed = tmp_path / "batchproof", tmp_path / "batchproof" / ".venv" / "packages"
    checkout.mkdir()
    for name in ("__init__.py", "conftest.py"):
        shutil.copy(ROOT / name, checkout)
    wheel.extractall(installed)
    report = str(tmp_path / "report")
    asked = {
        "check": ["batchproof", "check", "--target", "virtual", "--rules", "DB-SIZE-001", "--report", report],
        "pytest": ["pytest", "-p", "batchproof.fixtures.plugin", "-p", "no:cacheprovider", "--pyargs", "batchproof.suites",
                   "--target", "virtual", "--bp-rules=DB-SIZE-001", "--bp-report", report],
    }  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    ran = subprocess.run(
        [sys.executable, "-m", *asked[command]], cwd=checkout, env=environment, capture_output=True, timeout=90, check=False
    )

    assert (ran.returncode, (tmp_path / "report" / "summary.md").is_file()) == (0, True), ran.stdout + ran.stderr


def test_every_folder_is_listed() -> None:
    """Each folder with something to ship is a package in pyproject.toml, and each package is such a folder.

    The templates of a package are its data.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]

    folders = {name.rpartition("/")[0].removesuffix("/templates").replace("/", ".") for name in tree()}

    assert sorted(settings["packages"]) == sorted(f"batchproof.{folder}".rstrip(".") for folder in folders)
    assert settings["package-dir"] == {"batchproof": "."}


def test_the_oldest_versions_are_tried() -> None:
    """The environment `oldest` installs the lower bound of each dependency, exactly."""
    bounds = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    settings = ConfigParser()
    settings.read(ROOT / "tox.ini", encoding="utf-8")

    tried = settings["testenv:oldest"]["deps"].strip().splitlines()

    assert [one.replace('"', "'") for one in tried] == [bound.replace(">=", "==") for bound in bounds]
