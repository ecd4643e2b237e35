"""The options of `batchproof bench`: what they mean, and which of them make no sense."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from batchproof.bench.engines.options import TextOptions
from batchproof.bench.kinds import KINDS, Kind
from batchproof.bench.pictures import cannot_draw
from batchproof.bench.plan import Measurement
from batchproof.host.awake import kept_awake
from batchproof.load.spread.ask import Wanted
from batchproof.load.workload import WORKS, Work

ALL = "all"
ENGINES = " and ".join(KINDS["continuous"].works)


class Usage(Exception):
    """The options make no sense; the message says what would."""


@dataclass(frozen=True)
class Options:
    """The options of the command line. slo_p99_ms and price_per_hour are 0 if they are not given.

    plots: a folder for the charts as PNG and SVG files; None: they are only in report.html. texts: what engines are asked
    for.
    """

    target: str = "reference"
    quick: bool = False
    work: str = "accelerator"
    only: str = ""
    slo_p99_ms: float = 0.0
    price_per_hour: float = 0.0
    currency: str = "EUR"
    report: Path | None = None
    seed: int = 1729
    crew: Wanted = field(default_factory=Wanted)
    plots: Path | None = None
    texts: TextOptions = field(default_factory=TextOptions)

    def check(self) -> None:
        """Usage or Misuse if no target could be measured like this."""
        measurements = [name for kind in KINDS.values() for name in kind.names]
        works = {name for kind in KINDS.values() for name in kind.works}
        if unknown := [name for name in self._only() if name not in measurements]:
            raise Usage(f"--only {', '.join(unknown)}: choose from {', '.join(measurements)}")
        if unknown := [name for name in self._work() if name not in works]:
            raise Usage(f"--work {', '.join(unknown)}: choose from {', '.join(WORKS)} and {ALL}; for an engine, {ENGINES}")
        _check_torch(WORKS[name] for name in self._work() if name in WORKS)
        if self.slo_p99_ms < 0 or self.price_per_hour < 0:
            raise Usage("--slo-p99-ms and --price-per-hour must not be negative")
        self.crew.check()
        if why := cannot_draw(self.plots):
            raise Usage(why)
        self.texts.asked()

    def works(self, kind: Kind) -> tuple[Work, ...]:
        """Return the models under load; Usage if this kind of target has no such model."""
        if why := kind.lacks((), self._work()):
            raise Usage(why)
        works = tuple(kind.works[name] for name in self._work() or kind.works)
        _check_torch(works)
        return works

    def chosen(self, kind: Kind) -> tuple[Measurement, ...]:
        """Return the measurements, in the table's order; Usage if this kind of target has no such measurement."""
        if why := kind.lacks(self._only(), ()):
            raise Usage(why)
        return tuple(one for one in kind.measurements if not self.only or one.name in self._only())

    def suits(self, kind: Kind) -> str:
        """Return why an option makes no sense for this kind of target; empty if all do."""
        if kind is KINDS["dynamic"]:
            given = list(self.texts.words())
            return f"{', '.join(given)}: only engines with continuous batching are asked for texts" if given else ""
        of_batchers = {"--slo-p99-ms": self.slo_p99_ms, "--price-per-hour": self.price_per_hour}
        given = [name for name, value in {**of_batchers, **self.crew.words()}.items() if value]
        slo = "; --ttft-slo-ms and --itl-slo-ms are the objective of an engine" if self.slo_p99_ms else ""
        return f"{', '.join(given)}: that is not for {kind.what}{slo}" if given else ""

    def _only(self) -> list[str]:
        return _names(self.only) if self.only else []

    def _work(self) -> list[str]:
        return _names(self.work) if self.work != ALL else []

    def command(self) -> str:
        """Return the command that runs this bench again."""
        given: dict[str, Any] = {
            "--work": self.work if self.work != "accelerator" else "",
            "--only": self.only,
            "--slo-p99-ms": self.slo_p99_ms and f"{self.slo_p99_ms:g}",
            "--price-per-hour": self.price_per_hour and f"{self.price_per_hour:g}",
            "--currency": self.currency if self.price_per_hour else "",
            "--seed": self.seed,
            **self.crew.words(),
            **self.texts.words(),
        }
        words = [word for name, value in given.items() if value for word in (name, str(value))]
        flags = [*["--quick"] * self.quick, *["--awake"] * kept_awake()]
        return shlex.join(["batchproof", "bench", "--target", self.target, *flags, *words])


def _check_torch(works: Iterable[Work]) -> None:
    """Usage if one of these needs torch and it is not there."""
    torch = [work.name for work in works if work.model]
    if torch and find_spec("torch") is None:
        raise Usage(f"--work {', '.join(torch)} needs the module 'torch': pip install 'batchproof[reference]'")


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise Usage("the list is empty: name at least one")
    return list(dict.fromkeys(names))
