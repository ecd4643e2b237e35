"""All engines by name, as `engines.toml` has them."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.resources import files
from typing import Any

from batchproof.suites.selftest.strangers.stranger import GITHUB, Stranger

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = "batchproof.suites.selftest.strangers.engines"


def _read() -> dict[str, Stranger]:
    text = files(HERE).joinpath("engines.toml").read_text(encoding="utf-8")
    return {name: _stranger(name, **about) for name, about in tomllib.loads(text).items()}


def _stranger(name: str, engine: str, cites: str = "", **about: Any) -> Stranger:
    module, _, of_class = engine.partition(".")
    lists = {key: tuple(about[key]) for key in ("kills", "also") if key in about}
    made = getattr(import_module(f"{HERE}.{module}"), of_class)
    return Stranger(name, made, GITHUB + cites if cites else "", **{**about, **lists})


ENGINES = _read()
