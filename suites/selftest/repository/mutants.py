"""Mutants of the stand-in: its source with one line replaced, as `mutants.toml` declares them."""

from __future__ import annotations

import importlib.util
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


@dataclass(frozen=True)
class Mutant:
    """One entry: what is wrong, which line (it occurs once) is replaced by what, and which rules notice, with what words."""

    what: str
    line: str
    wrong: str
    kills: tuple[str, ...]
    message: str
    where: str = "stand_in"


@cache
def mutants() -> dict[str, Mutant]:
    """Return every mutant by name, in the order of the file."""
    tables = tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))
    return {name: Mutant(**{**table, "kills": tuple(table["kills"])}) for name, table in tables.items()}


def target(name: str, folder: Path) -> Any:
    """Return the stand-in with this mutant's line in it; "" : without any. folder: for its source."""
    if not name:
        from batchproof.suites.selftest.repository.stand_in import StandIn

        return StandIn()
    mutant = mutants()[name]
    changed = {stem: (HERE / f"{stem}.py").read_text(encoding="utf-8") for stem in ("limiter", "stand_in")}
    assert changed[mutant.where].count(mutant.line) == 1, f"{name}: the line must occur once in {mutant.where}.py"
    changed[mutant.where] = changed[mutant.where].replace(mutant.line, mutant.wrong)
    own = f"stand_in_{name.replace('-', '_')}"
    for stem, text in changed.items():
        path = folder / f"{stem}.py"
        path.write_text(text.replace("batchproof.suites.selftest.repository.limiter", f"{own}_limiter"), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(own if stem == "stand_in" else f"{own}_limiter", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    return module.StandIn()
