"""All batchers of sequences by name: the right designs, and one wrong place in them for each entry of `sequences.toml`."""

from __future__ import annotations

import sys
from importlib.resources import files
from types import ModuleType
from typing import Any

from batchproof.suites.selftest.strangers.sequences.ledger import Ledger
from batchproof.suites.selftest.strangers.sequences.troupe import Troupe
from batchproof.suites.selftest.strangers.stranger import GITHUB, Stranger

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = "batchproof.suites.selftest.strangers.sequences"
DESIGNS = {"troupe": Troupe, "ledger": Ledger}


def _read() -> dict[str, Stranger]:
    found = {f"right-{design}": Stranger(f"right-{design}", batcher) for design, batcher in DESIGNS.items()}
    for name, about in tomllib.loads(files(HERE).joinpath("sequences.toml").read_text(encoding="utf-8")).items():
        first = about["source"][0].replace("#", "/issues/")
        kills, also = tuple(about.get("kills", ())), tuple(about.get("also", ()))
        found[name] = Stranger(name, _wrong(name, **about), GITHUB + first, about["requirement"], kills, also)
    return found


def _wrong(name: str, design: str, line: str, wrong: str, **_: Any) -> type[Any]:
    """Return the batcher of a design in which this one place is wrong."""
    text = files(HERE).joinpath(f"{design}.py").read_text(encoding="utf-8")
    if text.count(line) != 1:
        raise ValueError(f"{name}: its line does not occur exactly once in {design}.py")
    module = ModuleType(f"{HERE}.wrong.{name.replace('-', '_')}.{design}")
    sys.modules[module.__name__] = module  # where `dataclass` looks for the types of its fields
    exec(compile(text.replace(line, wrong), f"{name}: {design}.py", "exec"), vars(module))  # noqa: S102 - our own source
    batcher: type[Any] = vars(module)[DESIGNS[design].__name__]
    return batcher


SEQUENCES = _read()
