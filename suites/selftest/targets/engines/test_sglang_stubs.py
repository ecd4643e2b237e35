"""The stubs for packages that SGLang imports: every name is there, and none computes anything."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from batchproof.targets.engines import sglang_stubs


@pytest.fixture
def stubs(monkeypatch):
    """The stubs, installed for one test."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    sglang_stubs.install()
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in sglang_stubs.NAMES]:
        del sys.modules[name]


@pytest.mark.parametrize("name", ["sgl_kernel", "sgl_kernel.flash_attn", "torchvision", "torchvision.transforms.v2"])
@pytest.mark.usefixtures("stubs")
def test_a_name_that_is_called_says_that_it_is_a_stub(name):
    """A module of any depth can be imported; what is in it cannot be used."""
    module = import_module(name)

    with pytest.raises(NotImplementedError, match=f"{name}.anything.at_all is only a stub"):
        module.anything.at_all(1, key=2)


@pytest.mark.usefixtures("stubs")
def test_what_python_itself_asks_for_is_not_made_up():
    """Looks for special names, as `inspect` and `copy` do, find nothing."""
    module = import_module("sgl_kernel")

    assert not hasattr(module, "__wrapped__")
    assert not hasattr(module.anything, "__deepcopy__")


@pytest.mark.usefixtures("stubs")
def test_other_packages_are_not_stubs():
    """A module that is missing stays missing."""
    with pytest.raises(ModuleNotFoundError):
        import_module("sgl_kernel_of_somebody_else")
