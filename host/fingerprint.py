"""Which kind of machine this is, as far as it makes a difference to speed. Neither its name nor its user is in it."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from batchproof.host.watch import cores

CPU_FACTS = Path("/proc/cpuinfo")
MEMORY_FACTS = Path("/proc/meminfo")
QUOTA = Path("/sys/fs/cgroup/cpu.max")
THREADS = "OMP_NUM_THREADS"
PACKAGES = ("numpy", "torch")


def fingerprint() -> dict[str, Any]:
    """Return JSON data for the header of a report; what cannot be known is left out.

    cpu: the processor's model. cores: how many processors this process may use; cpu_quota: for how many of them its time
    suffices, where a control group limits it. memory: of the whole machine.
    """
    facts: dict[str, Any] = {"cpu": _cpu(), "cores": cores()}
    with contextlib.suppress(OSError, AttributeError, ValueError):
        kib = re.search(r"^MemTotal:\s+(\d+) kB$", MEMORY_FACTS.read_text(), re.MULTILINE)
        facts["memory"] = f"{round(int(kib[1]) / 2**20)} GiB" if kib else None
    with contextlib.suppress(OSError, ValueError):
        quota, period = QUOTA.read_text().split()
        facts["cpu_quota"] = None if quota == "max" else round(int(quota) / int(period), 2)
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            facts[package] = metadata.version(package)
    facts[THREADS] = os.environ.get(THREADS)
    return {name: value for name, value in facts.items() if value is not None}


def _cpu() -> str:
    """Return the model of the processor: what the kernel calls it, or else its architecture."""
    with contextlib.suppress(OSError):
        text = CPU_FACTS.read_text()
        for name in ("model name", "Model", "cpu model", "Hardware"):
            if found := re.search(rf"^{name}\s*: (.+)$", text, re.MULTILINE):
                return found[1].strip()
    return platform.processor() or platform.machine()
