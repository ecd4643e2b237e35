"""What `batchproof adapter check` tries of sequences: alone, or alongside plain requests."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from batchproof.commands.adapter import answers, backlog, ending, experiments, sequences
from batchproof.commands.adapter.deploying import SIZE
from batchproof.commands.adapter.finding import unseen, wrong
from batchproof.commands.adapter.notes import ERROR
from batchproof.commands.adapter.probe import Probe
from batchproof.commands.adapter.trials import Trials
from batchproof.reference_batcher.sequence_config import SequenceBatching
from batchproof.targets.claims import problems, value_of

NO_SENSE = "not tried: fix this first"


@dataclass
class SequenceTrials(Trials):
    """The trials of sequences. only_sequences: nothing else is served."""

    only_sequences: bool = False

    def _only_sequences(self, delays: list[int]) -> None:
        """Try one sequence by each strategy that is claimed, with the least delay that `deploy` accepts for it."""
        self.only_sequences = True
        for strategy in self._strategies():
            self.say(f"a sequence ({strategy})")
            for delay_ns in delays:
                self.delay_ns = delay_ns
                probe = self._deploy(sequence=SequenceBatching(strategy))
                if not isinstance(probe, str):
                    break
            if isinstance(probe, Probe):
                self._one_sequence(probe, strategy)
                self._end(probe)
            elif probe:
                self._refuses_sequences(strategy, probe)

    def _one_sequence(self, probe: Probe, strategy: str) -> None:
        """Try a sequence of one request, and then one of three."""
        first = self._try(
            "submit", "answers", probe,
            lambda one: experiments.first(one, sequence=sequences.WHOLE, start=True, end=True),
            lambda seen: answers.judge_first(seen) if self.facts.steps == () or answers.lost(seen) else (), "first",
        )  # fmt: skip
        if first is None or self._is_wrong("submit", "answer"):
            self._add(unseen("and the rest", NO_SENSE))
            return
        before = self.facts.steps
        seen = self._try(
            sequences.CHECK, "a sequence", probe, lambda one: (*before, sequences.steps(one, strategy)),
            lambda seen: sequences.judge(seen[-1]), "steps",
        )  # fmt: skip
        if seen is None or not seen[-1].good:
            self._add(unseen("and the rest", NO_SENSE))
            return
        self._many_sequences(probe)

    def _many_sequences(self, probe: Probe) -> None:
        """Try what rules do with requests each of which is a sequence: hold, queue, cancel, fail, and close under them."""
        probe.ids = itertools.count(sequences.LONE)
        self._try("gate", "gate, log and queue", probe, self._backlog, backlog.judge, "backlog")
        if self._is_wrong("gate", "log", "queue", "busy model"):
            self._add(unseen("and the rest", NO_SENSE))
            return
        usable, claims = self.facts.usable, self.claims
        self._try(
            "cancel", "cancel", probe, lambda one: experiments.cancelled(one, SIZE, usable=usable),
            lambda seen: ending.judge_cancelled(seen, claimed=claims("cancel"), rules=ending.OF_SEQUENCES), "cancelled",
        )  # fmt: skip
        self._try(
            "model's error", ERROR, probe, experiments.failure,
            lambda seen: ending.judge_failure(seen, rules=ending.OF_SEQUENCES), "failure",
        )  # fmt: skip
        self._revive()
        if not self.ended:
            self._try_closing(probe)

    def _with_sequences(self) -> None:
        """Beside plain requests, try a sequence of three requests by each strategy that is claimed."""
        if self._is_wrong("submit", "answer", "own answer"):
            return
        for strategy in self._strategies():
            probe = self._deploy(sequence=SequenceBatching(strategy))
            if isinstance(probe, Probe):
                self._beside_plain_requests(probe, strategy)
                self._end(probe)
            elif probe:
                self._refuses_sequences(strategy, probe)

    def _beside_plain_requests(self, probe: Probe, strategy: str) -> None:
        before = self.facts.strategies
        self._try(
            sequences.CHECK, f"a sequence ({strategy})", probe, lambda one: (*before, sequences.steps(one, strategy)),
            lambda seen: sequences.judge(seen[-1]), "strategies",
        )  # fmt: skip

    def _strategies(self) -> tuple[str, ...]:
        """Return the strategies for sequences that are claimed."""
        claims = self.target.info.claims
        return () if problems(claims) else sequences.STRATEGIES.get(value_of(claims, "sequences"), ())

    def _refuses_sequences(self, strategy: str, why: str) -> None:
        says = f"sequences of the strategy {strategy} are claimed, and `deploy` refuses them: {why}"
        self._add(wrong("deploy", says, "deploy", "deploy what config.sequence says, or claim the other strategy"))
