"""`batchproof tune` for engines: its options, its measurement, and the file that it writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from batchproof.bench.engines.calibration import Calibrate
from batchproof.bench.engines.options import TextOptions
from batchproof.bench.engines.serving import LENGTH
from batchproof.bench.engines.tuning.tables import figures, tables
from batchproof.bench.engines.tuning.tuning import Aims, EngineTuning
from batchproof.bench.engines.tuning.tuning import measure as measure_tuning
from batchproof.bench.measurement import Bench
from batchproof.bench.plan import Measurement
from batchproof.bench.result import Result
from batchproof.targets.protocol import Misuse

ENGINE_OPTIONS = "--ttft-slo-ms, --itl-slo-ms, --prompts, --texts, --arrivals, --trace, --max-seqs and --token-budgets"
QUESTION = "which sequence limit and token budget serve the most requests, with 99 % within the objective"
BATCHERS_FILE, FILE = "config.pbtxt", "engine.json"  # the default output file


@dataclass(frozen=True)
class EngineTuneOptions:
    """The options as given; empty: the default. seqs, budgets: numbers separated by commas."""

    texts: TextOptions = field(default_factory=TextOptions)
    seqs: str = ""
    budgets: str = ""

    def words(self) -> dict[str, Any]:
        """Return the given options as on the command line."""
        given = {"--max-seqs": self.seqs, "--token-budgets": self.budgets}
        return {**self.texts.words(), **{name: value for name, value in given.items() if value}}

    def aims(self, *, quick: bool, seconds: float) -> Aims:
        """Return what to try; Misuse says what is wrong with the options."""
        self.texts.asked()
        aims = Aims(seconds=15.0, candidates=2) if quick else Aims()
        aims = replace(aims, seconds=seconds) if seconds else aims
        if self.seqs:
            aims = replace(aims, seqs=_numbers("--max-seqs", self.seqs, 1024))
        if self.budgets:
            aims = replace(aims, budgets=_numbers("--token-budgets", self.budgets, LENGTH * 1024))
        if min(aims.seqs) > max(aims.budgets):
            raise Misuse("each row needs a token: no value of --token-budgets is as large as the smallest of --max-seqs")
        return aims


def engine_measurement(aims: Aims, found: Callable[[EngineTuning], object]) -> Measurement:
    """Return the measurement. found: called with its result."""

    def measure(bench: Bench, calibrate: Calibrate) -> Result:
        result = measure_tuning(bench, calibrate, aims)
        if isinstance(result.found, EngineTuning):
            found(result.found)
        return result

    return Measurement("tune", QUESTION, 60, 180, measure, tables, figures=figures)


def written(found: EngineTuning, path: Path) -> Path:
    """Write the chosen configuration as JSON, with the reasons, and return its path."""
    assert found.chosen is not None
    path = path.with_name(FILE) if path.name == BATCHERS_FILE else path
    chosen = found.chosen.config
    limits = {"max_num_seqs": chosen.max_num_seqs, "max_num_batched_tokens": chosen.max_num_batched_tokens}
    path.write_text(json.dumps({**limits, "why": found.says}, indent=2) + "\n", encoding="utf-8")
    return path


def _numbers(option: str, text: str, most: int) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= most for part in parts):
        raise Misuse(f"{option} takes whole numbers from 1 to {most}, separated by commas, not '{text}'")
    return tuple(dict.fromkeys(map(int, parts)))
