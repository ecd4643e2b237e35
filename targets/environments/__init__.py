"""Environments of stacks: which ones can be made, where they are kept, and which ones have been made.

`batchproof env make NAME` makes one; `--target NAME` finds it where this interpreter does not have the stack.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
MARKER = "batchproof-environment.json"  # exists once an environment is complete


@dataclass(frozen=True)
class Environment:
    """The contents of an environment; the fields are explained at the top of environments.toml.

    locked: `NAME==VERSION` of everything in it, as tested with Python `locked_for`.
    """

    name: str
    version: str
    python: str
    packages: tuple[str, ...]
    imports: str
    download_mb: int
    installed_mb: int
    remove: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    locked_for: str = ""

    @property
    def folder_name(self) -> str:
        """Return the name of its folder."""
        return f"{self.name}-{self.version}"

    def at(self, folder: Path) -> Path:
        """Return its path in the folder that holds all environments."""
        return folder / self.folder_name


@cache
def environments() -> dict[str, Environment]:
    """Return every environment that can be made, by the name of its target."""
    tables, locks = (_table(name) for name in ("environments.toml", "locks.toml"))
    return {name: _environment(name, table, locks.get(name, {})) for name, table in tables.items()}


def _environment(name: str, table: dict[str, Any], lock: dict[str, Any]) -> Environment:
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Environment(name, **given, locked=tuple(lock.get("versions", ())), locked_for=lock.get("python", ""))


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def usual_folder() -> Path:
    """Return the folder in which environments are kept: `batchproof/env` in XDG_CACHE_HOME, or in ~/.cache."""
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache_home) if cache_home.startswith("/") else Path.home() / ".cache"
    return base / "batchproof" / "env"


def python_in(place: Path) -> Path:
    """Return the path of the environment's interpreter."""
    return place / "bin" / "python"


def complete(place: Path) -> bool:
    """Return whether there is a complete environment."""
    return (place / MARKER).is_file() and python_in(place).exists()


def made(name: str) -> str:
    """Return the path of the interpreter made for a target; an empty string if there is none."""
    found = environments().get(name)
    if found is None:
        return ""
    place = found.at(usual_folder())
    return str(python_in(place)) if complete(place) else ""
