"""Our load on a text server compared with guidellm's: the same prompts, the same server, the same minute, in turns.

    batchproof lab second-opinions --target openai:http://host:port [--guidellm PROGRAM] [--quick]

Both keep as many clients busy, each with one request at a time. Ratios are theirs to ours.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from batchproof.load.generation.demand import Demand
from batchproof.load.generation.player import requests_of
from batchproof.load.generation.runs import Loaded, TextRun
from batchproof.load.schedule import Schedule
from batchproof.load.second_opinion import guidellm
from batchproof.load.second_opinion.guidellm import TextOpinion
from batchproof.load.second_opinion.opinion import ToolFailed
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.stats import gates
from batchproof.stats.gates import FAIL, INCONCLUSIVE, PASS, Answer, within
from batchproof.stats.percentile import percentile
from batchproof.targets.engines.openai import OpenAITarget, words
from batchproof.targets.witness.languages import language_named

PROMPT, TEXT, LIST = 48, 24, 3000  # tokens; requests
CLIENTS = 4
TOLERANCE = {"tokens/s": 0.05, "TTFT p50": 0.10, "ITL mean": 0.10}  # of ours: more is a difference that must be explained
LANGUAGE = language_named("unknown")
CONFIG = EngineConfig(CLIENTS, 4096, 16, 4096, 4096)  # what nobody sets on a server that is there


@dataclass(frozen=True)
class Pair:
    """One right after the other."""

    ours: TextOpinion
    theirs: TextOpinion

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the round is not judged."""
        return (*(f"ours: {why}" for why in self.ours.reasons), *self.theirs.reasons)

    @property
    def ratios(self) -> dict[str, float]:
        """Theirs to ours."""
        sides = ((one.tokens_per_s, one.ttft_p50_ns, one.itl_mean_ns) for one in (self.theirs, self.ours))
        return {name: theirs / ours for name, theirs, ours in zip(TOLERANCE, *sides, strict=True) if ours}


@dataclass(frozen=True)
class Agreed:
    """All rounds. ratios: medians of the valid rounds, or of all if none is."""

    pairs: tuple[Pair, ...]

    @property
    def valid(self) -> tuple[Pair, ...]:
        """The rounds that are judged."""
        return tuple(pair for pair in self.pairs if not pair.reasons)

    @property
    def ratios(self) -> dict[str, float]:
        """By name."""
        rounds = [pair.ratios for pair in self.valid or self.pairs]
        return {name: median(one[name] for one in rounds if name in one) for name in rounds[0]} if rounds else {}

    @property
    def verdict(self) -> Answer:
        """PASS: each ratio is near 1. INCONCLUSIVE: no round is valid."""
        if not self.valid:
            return INCONCLUSIVE
        near = [gates.figure(self.ratios.get(name), within(1 - by, 1 + by)).verdict for name, by in TOLERANCE.items()]
        return PASS if all(one == PASS for one in near) else FAIL

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"verdict": self.verdict, "ratios": self.ratios, "pairs": [asdict(pair) for pair in self.pairs]}

    def lines(self) -> list[str]:
        """Return a table as Markdown."""
        table = ["| generator | valid rounds | tokens/s | requests/s | TTFT p50 ms | ITL mean ms |"]
        table.append("|---|---|---:|---:|---:|---:|")
        rounds = self.valid or self.pairs
        for name, sides in (("ours", [one.ours for one in rounds]), (guidellm.NAME, [one.theirs for one in rounds])):
            each = [(one.tokens_per_s, one.requests_per_s, one.ttft_p50_ns / 1e6, one.itl_mean_ns / 1e6) for one in sides]
            figures = " | ".join(f"{median(column):.1f}" for column in zip(*each, strict=True))
            table.append(f"| {name} | {len(self.valid)} of {len(self.pairs)} | {figures} |")
        told = ", ".join(f"{name} {ratio:.3f}" for name, ratio in self.ratios.items())
        why = f": no valid round: {self.pairs[0].reasons[0]}" if self.verdict == INCONCLUSIVE and self.pairs else ""
        return [*table, "", f"theirs to ours: {told}: {self.verdict}{why}"]


def agreement(spec: str, program: str, tokenizer: str, rounds: int, seconds: float) -> Agreed:
    """Measure in turns; TargetError if the server cannot be reached, ToolMissing without guidellm."""
    program = guidellm.found(program)
    target = OpenAITarget(spec)
    target.as_ids = False  # both send the same texts
    asked = _asked()
    prompts = [words(one.prompt) for one in requests_of(asked, LANGUAGE)]
    pairs: list[Pair] = []
    for number in range(rounds):

        def theirs() -> TextOpinion:
            base = target.address.base
            try:
                return guidellm.measure(program, base, target.model, tokenizer, prompts, TEXT, CLIENTS, seconds)
            except ToolFailed as error:
                print(error, file=sys.stderr)
                return TextOpinion(guidellm.NAME, 0.0, 0.0, 0, 0, 0, (str(error).partition(";")[0],))

        def ours() -> TextOpinion:
            return of_run(_ours(target, asked, seconds))

        one, other = (theirs(), ours()) if number % 2 else (ours(), theirs())
        pair = Pair(other, one) if number % 2 else Pair(one, other)
        pairs.append(pair)
        doubt = f"; INVALID: {pair.reasons[0]}" if pair.reasons else ""
        told = f"guidellm {pair.theirs.tokens_per_s:.0f} tokens/s, ours {pair.ours.tokens_per_s:.0f}"
        print(f"round {number + 1}: {told}{doubt}", file=sys.stderr, flush=True)
    return Agreed(tuple(pairs))


def of_run(run: TextRun) -> TextOpinion:
    """Return what our own run says in the same figures."""
    samples = run.samples
    ttft, gaps = samples.ttft_ns[samples.whole.answered], samples.gap_ns
    return TextOpinion(
        "batchproof",
        run.tokens_per_s,
        run.requests_per_s,
        int(percentile(ttft, 50)) if len(ttft) else 0,
        round(float(gaps.mean())) if len(gaps) else 0,
        int(samples.whole.answered.sum()),
        run.validity.reasons,
    )


def _asked() -> Demand:
    prompts, texts = (np.full(LIST, size, np.int64) for size in (PROMPT, TEXT))
    return Demand(Schedule(np.zeros(LIST, np.int64), f"{LIST} requests", 1), prompts, texts, np.zeros(LIST, np.int32))


def _ours(target: OpenAITarget, asked: Demand, seconds: float) -> TextRun:
    engine = target.engine(CONFIG)
    try:
        return Loaded(engine, CONFIG, LANGUAGE, 60_000_000_000, stepped=False).saturate(asked, CLIENTS, seconds)
    finally:
        engine.close()


