"""An index in a folder, and an environment that is made of it."""

import pytest

from batchproof.suites.selftest.commands.env.wheels import wheel
from batchproof.targets.environments import Environment


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of wheels, which is all that pip finds."""
    folder = tmp_path / "index"
    folder.mkdir()
    wheel(folder, "tiny", "1.0", "def main():\n    print('runs')\n", script="tiny-runs")
    wheel(folder, "unwanted", "2.0")
    for key in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def tiny():
    """An environment of one package, with another one that is removed again."""
    return Environment("tiny", "1.0", ">=3.8", ("tiny==1.0", "unwanted"), "tiny", 1, 1, remove=("unwanted",))
