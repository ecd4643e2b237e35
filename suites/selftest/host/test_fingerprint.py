"""What a report says of its machine."""

import json

import pytest

from batchproof.host import fingerprint as module
from batchproof.host.fingerprint import fingerprint


def test_it_says_what_makes_a_difference_to_speed():
    """And is the same twice; neither the machine's name nor its user is in it."""
    found = fingerprint()

    assert found == fingerprint()
    assert {"cpu", "cores", "numpy"} <= set(found)
    assert found["cores"] >= 1
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("cpu", "memory", "quota", "expected"),
    [
        ("processor : 0\nmodel name : Z 1 \n", "MemTotal:  16384000 kB\n", "150000 100000\n", ("Z 1", "16 GiB", 1.5)),
        ("Hardware\t: Pi\n", "MemTotal:  1048576 kB\n", "max 100000\n", ("Pi", "1 GiB", None)),
        ("Model\t: Pi 5\nHardware\t: BCM\n", "nonsense", "nonsense", ("Pi 5", None, None)),
        ("", "", "", (None, None, None)),
    ],
)
def test_it_reads_what_the_kernel_says(monkeypatch, tmp_path, cpu, memory, quota, expected):
    """What a kernel does not say is left out, and so is what cannot be read."""
    for name, text in (("CPU_FACTS", cpu), ("MEMORY_FACTS", memory), ("QUOTA", quota)):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(module, name, tmp_path / name)

    found = fingerprint()

    assert (found.get("cpu") if expected[0] else None, found.get("memory"), found.get("cpu_quota")) == expected


def test_a_machine_without_these_files(monkeypatch, tmp_path):
    """It is told by its architecture."""
    for name in ("CPU_FACTS", "MEMORY_FACTS", "QUOTA"):
        monkeypatch.setattr(module, name, tmp_path / "gone")

    assert set(fingerprint()) >= {"cpu", "cores"}
