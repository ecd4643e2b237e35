"""What targets are measured by: dynamic batchers by their batches, engines with continuous batching by their texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from batchproof.bench import calibration
from batchproof.bench.engines import asked
from batchproof.bench.engines import calibration as engines_calibration
from batchproof.bench.engines import plan as engines_plan
from batchproof.bench.measurement import Bench
from batchproof.bench.plan import MEASUREMENTS, Measurement
from batchproof.load.workload import WORKS, Work
from batchproof.targets.verbs import FullTarget


@dataclass(frozen=True)
class Kind:
    """What one discipline is measured by.

    calibrated: what its measurements get of a work first. right: what is known of all requests if none was served wrongly.
    """

    what: str
    measurements: tuple[Measurement, ...]
    works: Mapping[str, Work]
    calibrated: Callable[[Bench, Work], Any]
    right: str

    def lacks(self, measurements: Sequence[str], works: Sequence[str]) -> str:
        """Return which of these it does not have, and what it has; empty if it has all."""
        for option, names, known in (("--only", measurements, self.names), ("--work", works, tuple(self.works))):
            if unknown := [name for name in names if name not in known]:
                return f"{option} {', '.join(unknown)}: that is not for {self.what}: choose from {', '.join(known)}"
        return ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its measurements."""
        return tuple(one.name for one in self.measurements)


KINDS = {
    "dynamic": Kind(
        "a dynamic batcher",
        MEASUREMENTS,
        WORKS,
        calibration.calibrated,
        "each result is its own request's, and each decision that can be seen is explained",
    ),
    "continuous": Kind(
        "an engine with continuous batching",
        engines_plan.MEASUREMENTS,
        asked.WORKS,
        engines_calibration.saturated,
        "each text is the one that belongs to its prompt, and no iteration is beyond its limits",
    ),
}


def kind_of(target: FullTarget) -> Kind:
    """Return what a target is measured by."""
    return KINDS[target.info.discipline]
