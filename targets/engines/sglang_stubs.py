"""Stands in for two packages that SGLang imports: `sgl_kernel`, its kernels, and `torchvision`. This file travels.

Their builds are for GPUs, or do not fit a CPU's torch. Every name in them exists and raises when it is called, so nothing
that an engine computes comes from here.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

NAMES = ("sgl_kernel", "torchvision")
LOCAL = "+stubs"  # of the version: nothing here is what users have installed


class Missing:
    """Something of a package that is not there; calling it says so."""

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
    """Finds a stub for every module of these packages."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return how to make a stub, or None for another package's module."""
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
    """Let these packages be imported; an installed one stays hidden, so that each machine judges the same."""
    sys.meta_path.insert(0, Finder())
