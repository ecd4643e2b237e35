"""The engines of this folder, and what they become with the edits of a fault."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from types import ModuleType
from typing import Any

HERE = "batchproof.suites.selftest.strangers.lanes_and_reels"
MODULES = ("lanes_engine", "lanes_adapter", "served_adapter", "reels_engine", "reels_adapter", "opened", "quota", "aging",
           "drafts", "levels", "due", "tiers", "known", "fence")  # in this order


@dataclass(frozen=True)
class Whole:
    """A target with an adapter of its own. target: `module:class`. edits: module, text and what is there instead."""

    name: str
    target: str
    edits: tuple[Mapping[str, str], ...] = ()

    @property
    def made(self) -> Any:
        """Return the target."""
        module, _, of_class = self.target.partition(":")
        return getattr(_loaded(self.name, self.edits)[module], of_class)()


def _loaded(name: str, edits: Sequence[Mapping[str, str]]) -> dict[str, ModuleType]:
    """Return the modules with these edits, in a package of their own."""
    package = ModuleType(f"{HERE}.{name.replace('-', '_')}")
    package.__path__ = []
    sys.modules[package.__name__] = package
    found = {}
    for stem in MODULES:
        source = files(HERE).joinpath(f"{stem}.py").read_text(encoding="utf-8")
        for edit in (edit for edit in edits if edit["module"] == stem):
            if source.count(edit["text"]) != 1:
                raise ValueError(f"{name}: {stem}.py has this text {source.count(edit['text'])} times: {edit['text']}")
            source = source.replace(edit["text"], edit["wrong"])
        found[stem] = module = ModuleType(f"{package.__name__}.{stem}")
        module.__package__ = package.__name__
        sys.modules[module.__name__] = module
        exec(compile(source, f"{stem}.py", "exec"), vars(module))  # noqa: S102 - our own source
    return found
