"""All engines by name, as `engines.toml` has them, here and in the second series."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.resources import files
from typing import Any

from batchproof.suites.selftest.strangers.lanes_and_reels.made import HERE as SECOND
from batchproof.suites.selftest.strangers.lanes_and_reels.made import Whole
from batchproof.suites.selftest.strangers.stranger import GITHUB, Stranger

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = "batchproof.suites.selftest.strangers.engines"


def _read() -> dict[str, Stranger]:
    first, second = (
        tomllib.loads(files(where).joinpath("engines.toml").read_text(encoding="utf-8")) for where in (HERE, SECOND)
    )
    return {
        **{name: _stranger(name, **about) for name, about in first.items()},
        **{name: _whole(name, **about) for name, about in second.items()},
    }


def _stranger(name: str, engine: str, cites: str = "", **about: Any) -> Stranger:
    module, _, of_class = engine.partition(".")
    return _made(name, getattr(import_module(f"{HERE}.{module}"), of_class), cites, about)


def _whole(name: str, target: str, cites: str = "", edits: Any = (), **about: Any) -> Stranger:
    return _made(name, Whole(name, target, tuple(edits)), cites, about)


def _made(name: str, engine: Any, cites: str, about: dict[str, Any]) -> Stranger:
    lists = {key: tuple(about[key]) for key in ("kills", "also") if key in about}
    return Stranger(name, engine, GITHUB + cites if cites else "", **{**about, **lists})


ENGINES = _read()
