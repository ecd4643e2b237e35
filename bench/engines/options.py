"""The command-line options that define the load on engines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from batchproof.bench.engines.asked import ARRIVALS, PROMPTS, TEXTS, Texts
from batchproof.bench.engines.serving import LENGTH
from batchproof.load.generation import lengths, trace
from batchproof.load.schedule import ScheduleError
from batchproof.load.workload import MS
from batchproof.targets.protocol import Misuse


@dataclass(frozen=True)
class TextOptions:
    """The options as given; empty or 0: the default."""

    prompts: str = ""
    texts: str = ""
    arrivals: str = ""
    trace: Path | None = None
    ttft_slo_ms: float = 0.0
    itl_slo_ms: float = 0.0

    def words(self) -> dict[str, str]:
        """Return the given options as on the command line."""
        given = {
            "--prompts": self.prompts,
            "--texts": self.texts,
            "--arrivals": self.arrivals,
            "--trace": str(self.trace or ""),
            "--ttft-slo-ms": f"{self.ttft_slo_ms:g}" if self.ttft_slo_ms else "",
            "--itl-slo-ms": f"{self.itl_slo_ms:g}" if self.itl_slo_ms else "",
        }
        return {name: value for name, value in given.items() if value}

    def asked(self) -> Texts:
        """Return the load; Misuse says which option is wrong, and what is allowed."""
        if self.arrivals and self.arrivals not in ARRIVALS:
            raise Misuse(f"--arrivals {self.arrivals}: choose from {' and '.join(ARRIVALS)}")
        if self.trace and (self.prompts or self.texts or self.arrivals):
            raise Misuse("--trace has its own arrivals and lengths: leave out --prompts, --texts and --arrivals")
        if self.ttft_slo_ms < 0 or self.itl_slo_ms < 0:
            raise Misuse("--ttft-slo-ms and --itl-slo-ms must not be negative")
        try:
            prompts = lengths.parse(self.prompts) if self.prompts else PROMPTS
            texts = lengths.parse(self.texts) if self.texts else TEXTS
            requests = trace.fitted(trace.read(self.trace), LENGTH)[0] if self.trace else None
        except ScheduleError as wrong:
            raise Misuse(str(wrong)) from None
        slo_ns = round(self.ttft_slo_ms * MS), round(self.itl_slo_ms * MS)
        return Texts(prompts, texts, self.arrivals or ARRIVALS[0], requests, *slo_ns)
