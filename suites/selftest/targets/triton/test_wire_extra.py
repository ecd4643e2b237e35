"""What `http://` says where tritonclient is installed without HTTP."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder

import pytest

from batchproof.targets import TargetError
from batchproof.targets.triton.wire import HttpWire

NAME = "tritonclient.http"


class _Without(MetaPathFinder):
    """As tritonclient itself does it: with an exception and words of its own."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == NAME:
            raise RuntimeError("The installation does not include http support")


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install, and not how tritonclient names its own extras."""
    for name in [one for one in sys.modules if one.startswith(NAME)]:
        monkeypatch.delitem(sys.modules, name)
    if (package := sys.modules.get("tritonclient")) is not None:
        monkeypatch.delattr(package, "http", raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Without(), *sys.meta_path])

    with pytest.raises(TargetError, match=r"needs 'tritonclient\[http\]': pip install 'batchproof\[triton\]'"):
        HttpWire("127.0.0.1:1", "")
