"""The Docker engine that CI starts for itself: what killed engines have left goes, and what belongs to others stays."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import ipaddress
import json
import subprocess
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "engine"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, with a place of its own."""
    loader = importlib.machinery.SourceFileLoader("ci_engine", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ci_engine", loader))
    loader.exec_module(module)
    monkeypatch.setattr(module, "PLACE", tmp_path)
    return module


def test_what_a_killed_engine_has_left_is_removed(engine: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    left = tmp_path / "engine-killed"
    (left / "data").mkdir(parents=True)
    with engine.own_folder() as folder:
        assert [folder] == list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())
    assert f"removing {left}, which a killed run has left" in capsys.readouterr().err


def test_the_folder_of_a_living_engine_stays(engine: ModuleType, tmp_path: Path) -> None:
    other = tmp_path / "engine-alive"
    other.mkdir()
    with engine.locked(other):
        with engine.own_folder() as folder:
            assert {folder, other} == set(tmp_path.iterdir())
        assert [other] == list(tmp_path.iterdir())


def test_a_bridge_has_a_subnet_that_no_interface_has(engine: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[list[str]] = []
    addresses = {"local": "127.0.0.1", "prefixlen": 8}, {"local": "10.213.1.7", "prefixlen": 23}
    here = [{"addr_info": [one]} for one in addresses]

    def run(command: list[str], **_: object) -> SimpleNamespace:
        said.append(command[1:])
        return SimpleNamespace(stdout=json.dumps(here))

    monkeypatch.setattr(subprocess, "run", run)
    engine.make_bridge("bp-test")
    assert ["address", "add", "10.213.2.1/24", "dev", "bp-test"] in said
    assert ipaddress.ip_address("10.213.2.1") not in ipaddress.ip_network("10.213.0.0/23")


def test_the_name_of_a_bridge_is_short_enough(engine: ModuleType) -> None:
    with engine.own_folder() as folder:
        assert len(engine.bridge_of(folder)) <= 15
