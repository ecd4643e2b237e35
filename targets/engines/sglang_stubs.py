"""Stubs for two packages that SGLang imports: `sgl_kernel`, its kernels, and `torchvision`. Copied into its interpreter.

Their builds are for GPUs, or do not match torch's CPU build. Every name in the stubs exists and raises when called, so
nothing that an engine computes comes from here.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

NAMES = ("sgl_kernel", "torchvision")
LOCAL = "+stubs"  # ends the reported version: this is not what users have installed


class Missing:
    """A name in a missing package; calling it raises."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{self.name} is only a stub here")

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.name}.{name}")


class Stub(ModuleType):
    """A module that has every name."""

    __version__ = "0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a stub for every module in these packages."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a stub, or None for another package's module."""
        del path, target
        if name.partition(".")[0] in NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> ModuleType:
        """Return an empty stub."""
        return Stub(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing."""


def install() -> None:
    """Make these packages importable; an installed one stays hidden, so that results are the same on every machine."""
    sys.meta_path.insert(0, Finder())
