"""The example in JavaScript: a real batcher from its registry, in a folder of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from batchproof.commands.adapter.check import examine
from batchproof.commands.adapter.claims import measured
from batchproof.suites.selftest.command_line import invoke

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "node-dataloader"
LONGEST = 120  # lines of an adapter, with its witness
pytestmark = [
    pytest.mark.skipif(not EXAMPLE.is_dir(), reason="no docs here: the documentation is not installed"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="Node and its npm are not installed"),
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example and what it needs, in a temporary folder."""
    folder = tmp_path_factory.mktemp("node") / "example"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules"))
    command = ["npm", "install", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    if done.returncode:
        pytest.skip(f"npm cannot install dataloader here: {done.stderr.strip().splitlines()[-1:]}")
    return folder


def test_it_is_short() -> None:
    """The adapter and its witness fit on two pages."""
    assert len((EXAMPLE / "adapter.mjs").read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_it_passes_the_check_of_adapters(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is to be mended, and what is measured is what the example claims."""
    monkeypatch.chdir(installed)

    examined = examine("stdio:node adapter.mjs")

    assert [finding.says for finding, _ in examined.wrong] == []
    claims = {one.name: one.value for one in measured(examined.facts)}
    assert (claims["delay"], claims["instances"], claims["defaults"]) == (True, "unlimited", True)


def test_it_runs_any_number_of_batches_at_once(
    installed: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It claims so, and the rule that one instance runs one batch is not asked; without the claim it fails."""
    monkeypatch.chdir(installed)
    source = Path("adapter.mjs").read_text(encoding="utf-8")
    call = ("check", "--target", "stdio:node adapter.mjs", "--rules", "DB-LIVE-009", "--report", tmp_path)

    assert "UNSUPPORTED    DB-LIVE-009" in invoke(capfd, *call)[1]

    (installed / "bold.mjs").write_text(source.replace("instances: 'unlimited', ", ""), encoding="utf-8")
    status, out, _ = invoke(capfd, *(str(one).replace("adapter.mjs", "bold.mjs") for one in call))
    assert (status, "FAIL           DB-LIVE-009" in out) == (1, True), out


def test_a_full_batch_waits_for_its_timer(
    installed: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The rule that DataLoader breaks fails, and one that it keeps passes."""
    monkeypatch.chdir(installed)

    rules = "DB-DELAY-001,DB-DELAY-003"
    status, out, _ = invoke(capfd, "check", "--target", "stdio:node adapter.mjs", "--rules", rules, "--report", tmp_path)

    assert status == 1, out
    assert "PASS           DB-DELAY-001" in out
    assert "FAIL           DB-DELAY-003" in out
