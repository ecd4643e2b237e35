"""The decisions that are repeated: two sides whose difference is known, because it was put there."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from batchproof.bench.ab.options import DEVICE
from batchproof.bench.ab.question import BASE, NEW
from batchproof.bench.ab.side import Spec
from batchproof.reference_batcher.config import BatcherConfig

SLOW = "batchproof.bench.ab.gates.slow_reference:SlowReference?percent="
# On Triton the line that costs time is max_batch_size in its config.pbtxt: a batch of one row less costs 4 to 10 %.
SIZES = {0.0: (12, 12), 1.7: (24, 23), 3.3: (16, 15), 5.2: (12, 11), 9.5: (8, 7)}


@dataclass(frozen=True)
class Case:
    """A target and an effect. percent: by how much the new side takes longer for a row; 0: it is the same (A/A)."""

    target: str
    percent: float

    @property
    def name(self) -> str:
        """What stands in tables and file names."""
        return f"{self.target}-{self.percent:g}"

    @property
    def nominal(self) -> float:
        """The throughput of the new side over that of the base, by the arithmetic of the device."""
        if self.target != "triton":
            return 1 / (1 + self.percent / 100)
        base, new = (size / (DEVICE.base_ns + size * DEVICE.row_ns) for size in SIZES[self.percent])
        return new / base

    def specs(self) -> dict[str, Spec]:
        """Return the two sides; ValueError if the target has no such effect."""
        if self.target == "triton":
            if self.percent not in SIZES:
                raise ValueError(f"on triton the effect is one of {', '.join(f'{one:g}' for one in SIZES)} percent")
            sizes = dict(zip((BASE, NEW), SIZES[self.percent], strict=True))
            return {
                name: Spec(name, "triton", BatcherConfig(max_batch_size=size).facts(), python=sys.executable)
                for name, size in sizes.items()
            }
        if self.target != "reference":
            raise ValueError(f"the effects are made on reference and on triton, not on {self.target}")
        slow = f"{SLOW}{self.percent:g}" if self.percent else "reference"
        return {BASE: Spec(BASE, "reference"), NEW: Spec(NEW, slow)}
