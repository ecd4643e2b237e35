"""The order of the experiments of `batchproof adapter check`, and which make no sense after which."""

from __future__ import annotations

from dataclasses import dataclass, replace

from batchproof.commands.adapter import answers, backlog, delays, depth, ending, experiments, parallel, timing
from batchproof.commands.adapter.deploying import SIZE
from batchproof.commands.adapter.facts import Facts
from batchproof.commands.adapter.finding import MS, Finding, note, unseen, wrong
from batchproof.commands.adapter.notes import ERROR, ServerDied
from batchproof.commands.adapter.of_sequences import NO_SENSE, SequenceTrials
from batchproof.commands.adapter.probe import Probe, described
from batchproof.commands.adapter.trials import DELAY_NS, TINY_NS
from batchproof.targets import TargetInfo
from batchproof.targets.claims import problems, value_of
from batchproof.targets.deadlines import within
from batchproof.targets.defaults import StackDefaults
from batchproof.targets.lifecycle import finish

TIMEOUT_NS = 100 * MS
FRESH = 3  # deployments whose first request has to be late before that is held against the adapter
APART = 3  # times the least delay that can be set: a shorter one looks like that where a timer runs freely
LONGER_NS = 10 * MS  # instead of a delay of 0 with which nothing works
NO_ZERO = (
    "if the stack's documentation rules out a delay of 0, claim `smallest_delay_ms`,"
    " and raise Unsupported('max_queue_delay_ns') for a smaller one; if not, change nothing: the rules will report it"
)
ONLY_LACKS = (
    "raise Unsupported only for what the stack cannot have; one that serves each request alone keeps any max_batch_size"
)
WITHOUT = "requests without a sequence"  # what an adapter without a dynamic batcher does not support, by docs/adapters.md


@dataclass
class Examination(SequenceTrials):
    """One check under way: what is tried, and in which order.

    ready: whether more than the first things could be tried.
    """

    ready: bool = False

    def run(self) -> None:
        """Do all of it, as far as it makes sense."""
        try:
            if self._described() and (probe := self._plain()) is not None:
                good = self._one_model(probe)
                if not good and (longer := self._not_without_delay(probe)) is not None:
                    good, probe = True, longer
                if good:
                    self.ready = True
                    self._with_delay(probe)
                    self._with_instances()
                    self._with_small_batches()
                    self._with_timeout()
                    self._with_nothing_set()
                    self._with_sequences()
                else:
                    self._add(unseen("and the rest", NO_SENSE))
        except ServerDied:
            if not self.ended:
                self._add(unseen("and the rest", NO_SENSE))
        finally:
            for one in list(self.open):
                self._end(one)
            for future in self.coming.values():
                if future.done() and not future.exception():
                    finish(future.result())

    def _described(self) -> bool:
        info = self.target.info
        if isinstance(info, TargetInfo) and (flaws := info.flaws()):
            mend = "TargetInfo(name, version, ...) has short texts"
            self._add(wrong("info", f"of `info`, {'; '.join(flaws)}", "info", mend))
            return False
        if isinstance(info, TargetInfo):
            self._add(
                *(wrong("claims", one, "TargetInfo", "docs/adapters.md lists the claims") for one in problems(info.claims))
            )
            return True
        self._add(
            wrong("info", f"`info` is a {type(info).__name__}, not a TargetInfo", "info", "TargetInfo(name, version, ...)")
        )
        return False

    def _plain(self) -> Probe | None:
        """Deploy with the least delay that there is: by the claims, and for `deploy`."""
        self.say("deploying")
        delays = self._delays()
        self._at_once({"max_queue_delay_ns": delays[0]}, {"max_queue_delay_ns": _long_ns(delays[0])})
        for delay_ns in delays:
            self.delay_ns = delay_ns
            probe = self._deploy(max_queue_delay_ns=delay_ns)
            if isinstance(probe, Probe):
                return probe
            if probe is None:
                return None
        if WITHOUT in str(probe) and self.claims("sequences"):
            says = "plain requests were not tried, because `deploy` refuses a configuration without a sequence"
            judged = "only sequences are served, and the rules of the profile SEQUENCE judge those"
            self._add(unseen("deploy", f"{says}: {judged}"))
            self._only_sequences(delays)
            return None
        says = "`deploy` refuses every configuration, even the plainest"
        self._add(wrong("deploy", f"{says}: {probe}", "deploy", ONLY_LACKS))
        return None

    def _not_without_delay(self, plain: Probe) -> Probe | None:
        """If requests stayed unanswered with a delay of 0, see whether all is well with a longer one.

        If so, the adapter is right, and what was wrong is about the stack: one note says that instead. Otherwise a delay has
        nothing to do with it, and what was found stays.
        """
        unanswered = answers.unanswered(self.facts.first, self.facts.burst)
        if self.delay_ns or not unanswered:
            return None
        before, facts = list(self.findings), self.facts
        self._end(plain)
        self.say("a queue delay instead of none")
        self.findings = [one for one in before if one[0].check == "claims"]
        self.facts, self.delay_ns = Facts(no_zero=unanswered), LONGER_NS
        probe = self._deploy(max_queue_delay_ns=LONGER_NS)
        if isinstance(probe, Probe) and self._one_model(probe):
            says = f"with a queue delay of 0 {unanswered}; with {LONGER_NS // MS} ms all are answered"
            self._add(note("no delay", says, "deploy", NO_ZERO))
            return probe
        self.findings, self.facts, self.delay_ns = before, facts, 0
        return None

    def _one_model(self, probe: Probe) -> bool:
        """Try what every check after this one needs; return whether it makes sense to go on."""
        first = self._try("submit", "answers", probe, experiments.first, answers.judge_first, "first")
        if first is None or answers.lost(first) or self._is_wrong("submit"):
            return False
        if not self._is_wrong("answer"):
            self._try("own answer", "answers", probe, experiments.burst, answers.judge_burst, "burst")
        seen = self._try("gate", "gate, log and queue", probe, self._backlog, backlog.judge, "backlog")
        if seen is None or self._is_wrong("gate", "log", "queue", "busy model"):
            return False
        usable = self.facts.usable
        self._try(depth.CHECK, "a deep queue", probe, lambda one: depth.filled(one, usable=usable), depth.judge, "deep")
        limited = self.limit == SIZE  # without a limit, and if they hardly meet, they do not show how their rows count
        full = usable and limited and backlog.is_batched(seen)
        self._try("rows", "rows", probe, lambda one: experiments.rows(one, SIZE, usable=full), ending.judge_rows, "rows")
        self._try(
            "cancel", "cancel", probe, lambda one: experiments.cancelled(one, SIZE, usable=usable),
            lambda seen: ending.judge_cancelled(seen, claimed=self.claims("cancel")), "cancelled",
        )  # fmt: skip
        self._try("idle", "an idle deployment", probe, experiments.idle, timing.judge_idle, "idle")
        self._try("delay 0", "delay 0", probe, lambda one: delays.waits(one, self.delay_ns), timing.judge_none, "waits")
        return True

    def _with_delay(self, plain: Probe) -> None:
        """Deploy with a delay, alongside the first deployment where that is allowed."""
        alone = self.target.info.claims.get("side_by_side") is False
        if alone:
            self._close(plain)
            self._add(*parallel.judge_beside(parallel.Beside(apart="side_by_side = false is claimed")))
        delay_ns = _long_ns(self.delay_ns)
        usable, probe = self.facts.usable, self._deploy(max_queue_delay_ns=delay_ns)
        if isinstance(probe, Probe):
            if self.facts.waits is not None:
                waits = self.facts.waits
                self._try(
                    "delay", "delay", probe, lambda one: delays.delayed(one, delay_ns, waits, usable=usable),
                    lambda seen: timing.judge_delay(seen, waits, claimed=self.claims("delay")), "delayed",
                )  # fmt: skip
            if not alone and not self._is_wrong("delay"):
                self._try(
                    "side by side",
                    "side by side",
                    probe,
                    lambda one: experiments.beside(plain, one, usable=usable),
                    parallel.judge_beside,
                    "beside",
                )
            self._end(probe)
            if not alone and self.facts.delayed is not None:
                self._readiness(self.facts.delayed)
        elif probe:
            self.facts = replace(self.facts, no_delay=probe)
            self._add(note("delay", f"`deploy` refuses a queue delay of {delay_ns // MS} ms: {probe}"))
        if plain in self.open:
            self._close(plain)
        if self.facts.waits and not self.delay_ns and self.facts.waits.lone_ns and not timing.is_none(self.facts.waits):
            self._with_tiny_delay()

    def _readiness(self, delayed: timing.Delayed) -> None:
        """If the first request was late, see whether it is on other deployments as well: if not, the host stalled."""
        if delayed.unanswered or len(delayed.lone_ns) < 2:
            return
        fresh = timing.Fresh(delayed.delay_ns, delayed.lone_ns[:1], max(delayed.lone_ns[1:]))
        while fresh.late and len(fresh.first_ns) < FRESH:
            probe = self._deploy(max_queue_delay_ns=delayed.delay_ns)
            if not isinstance(probe, Probe):
                return
            first = probe.send("first")
            probe.settled(first)
            fresh = replace(fresh, first_ns=(*fresh.first_ns, first.outside_ns() or 0))
            self._end(probe)
        self._add(*timing.judge_fresh(fresh))

    def _with_tiny_delay(self) -> None:
        """See whether a lone request waits for less with a delay of 1 ms than with one of 0, which is not 0."""
        probe = self._deploy(max_queue_delay_ns=TINY_NS)
        if isinstance(probe, Probe):
            self._try("delay 0", "delay 0", probe, lambda one: delays.waits(one, TINY_NS), lambda _: (), "tiny")
            self._end(probe)

    def _with_instances(self) -> None:
        def judge(seen: parallel.Instances) -> tuple[Finding, ...]:
            return parallel.judge_instances(seen, claimed=self.claims("instances"))

        self._at_once({"instances": 2}, {"max_batch_size": 1}, {"queue_timeout_ns": TIMEOUT_NS})
        probe, usable = self._deploy(instances=2), self.facts.usable
        if isinstance(probe, Probe):
            self._try(
                "instances", "instances", probe,
                lambda one: experiments.instances(one, usable=usable, claimed=self.claims("instances")), judge, "instances",
            )  # fmt: skip
            self._end(probe)
        elif probe:
            self._note("instances", parallel.Instances(unsupported=probe), judge)

    def _with_small_batches(self) -> None:
        tried: list[tuple[int, str]] = []
        for size in (1, 2, 3) if self.limit == SIZE else (self.limit,):
            probe = self._deploy(max_batch_size=size)
            tried.append((size, probe if isinstance(probe, str) else "" if probe else "it failed"))
            if isinstance(probe, Probe):
                self._small(probe, tried)
                self._end(probe)
                self._revive()
                return
        self._note("smallest", ending.Smallest((*tried, (SIZE, ""))), ending.judge_smallest)

    def _small(self, probe: Probe, tried: list[tuple[int, str]]) -> None:
        usable = self.facts.usable and not self._is_wrong("batches")

        def smallest(one: Probe) -> ending.Smallest:
            batches = experiments.backlog(one, tried[-1][0]).batches if usable else ()
            kept = SIZE if self.facts.backlog and self.facts.backlog.batches[:1] == (SIZE,) else 0
            return ending.Smallest(tuple(tried), batches, kept)

        if self.limit == SIZE:
            self._try("smallest batch", "small batches", probe, smallest, ending.judge_smallest, "smallest")
        self._try("model's error", ERROR, probe, experiments.failure, ending.judge_failure, "failure")

    def _with_timeout(self) -> None:
        def judge(seen: ending.Expired) -> tuple[Finding, ...]:
            return ending.judge_expired(seen, claimed=self.claims("queue_timeout"))

        probe, usable = self._deploy(queue_timeout_ns=TIMEOUT_NS), self.facts.usable
        if isinstance(probe, Probe):
            self._try(
                "timeout",
                "queue timeout",
                probe,
                lambda one: experiments.expired(one, TIMEOUT_NS, usable=usable),
                judge,
                "expired",
            )
            self._end(probe)
        elif probe:
            self._note("expired", ending.Expired(unsupported=probe), judge)

    def _with_nothing_set(self) -> None:
        def judge(seen: parallel.Defaults) -> tuple[Finding, ...]:
            return parallel.judge_defaults(seen, claimed=self.claims("defaults"))

        if self.target.deploy_defaults is None:
            self._note("defaults", parallel.Defaults(verb=False), judge)
            return
        self.say("deploying with nothing set")
        try:
            with within("READY_S", f"`deploy_defaults` of {self.target.info.name}"):
                probe = Probe(self.target.deploy(StackDefaults()))
        except Exception as error:
            self._note("defaults", parallel.Defaults(verb=True, failed=f"it raised {described(error)}"), judge)
            return
        self.open.append(probe)
        self.last, usable = probe.deployment.inner, self.facts.usable
        claims = self.target.info.claims
        documented_ms = 0 if problems(claims) else value_of(claims, "default_delay_ms") or 0
        self._try("defaults", "a deployment with nothing set", probe,
                  lambda one: experiments.defaults(one, usable=usable, delay_ns=round(documented_ms * MS)), judge,
                  "defaults")  # fmt: skip
        self._end(probe)


def _long_ns(least_ns: int) -> int:
    """Return the delay that is tried against the least one that can be set."""
    return max(DELAY_NS, APART * least_ns)
