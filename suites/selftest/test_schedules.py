"""Random schedules of random configurations, on the reference batcher in simulated time: no law is ever broken."""

from __future__ import annotations

import random
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, product
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from batchproof.fixtures.case import live
from batchproof.fixtures.catalogue import rules
from batchproof.fixtures.combinations import (
    FACTORS,
    NEEDS,
    allowed,
    case,
    covering,
    gated_case,
    random_case,
    random_levels,
)
from batchproof.fixtures.combined import Combined
from batchproof.fixtures.difference import divergence
from batchproof.fixtures.script import MS
from batchproof.fixtures.shrinking import shrunk
from batchproof.fixtures.strength import broken_law, schedule, strengths, violations
from batchproof.fixtures.target import TargetInfo, Unsupported
from batchproof.fixtures.targets.virtual import VirtualTarget
from batchproof.fixtures.verdicts import Verdict
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Dispatch, Entry, Reject, Wait

SCHEDULES = 10_000
PROFILE = settings(
    max_examples=300, deadline=None, derandomize=True, database=None, print_blob=False,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
)  # fmt: skip


def test_ten_thousand_schedules_break_no_law() -> None:
    """As many as the suite promises, in two processes; a failure prints the smallest program that shows it."""
    half = SCHEDULES // 2
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = [one for part in pool.map(violations, (range(half), range(half, SCHEDULES))) for one in part]

    if found:
        small = shrunk(schedule(found[0][0]), lambda one: bool(broken_law(live(VirtualTarget(), one, count=True))))
        pytest.fail(f"seed {found[0][0]}: {found[0][1]}\n\n{small.python()}")


@PROFILE
@given(st.randoms(use_true_random=False))
def test_any_case_keeps_the_laws(draw: random.Random) -> None:
    """The same, where Hypothesis chooses and makes a counterexample small."""
    one = random_case(draw)

    timeline = live(VirtualTarget(), one, count=True)

    assert (broken_law(timeline), timeline.problems) == ("", ()), one.python()


class Batching(RuleBasedStateMachine):
    """The core, driven step by step with any configuration, beside what is known of every request."""

    @initialize(draw=st.randoms(use_true_random=False))
    def configure(self, draw: random.Random) -> None:
        """Any configuration."""
        self.config = case(random_levels(draw), draw).config
        self.core = DynamicBatcher(self.config)
        self.now_ns = 0
        self.waiting: list[Entry] = []
        self.running: dict[int, tuple[Entry, ...]] = {}
        self.gone: list[Entry] = []

    @rule(rows=st.integers(0, 9), priority=st.integers(0, 4), timeout=st.integers(0, 900), shape=st.integers(0, 1))
    def arrive(self, rows: int, priority: int, timeout: int, shape: int) -> None:
        """A request comes."""
        entry = Entry(rows, self.now_ns, None, priority, timeout * MS, shape)
        level = self.config.level(priority)
        beside = sum(self.config.level(one.priority) == level for one in self.waiting)
        limit = self.config.policy(level).max_queue_size
        refusal = self.core.enqueue(entry)

        assert (refusal is None) == (1 <= rows <= self.config.max_batch_size and (not limit or beside < limit))
        if refusal is None:
            self.waiting.append(entry)

    @rule(data=st.data())
    @precondition(lambda self: self.waiting)
    def cancel(self, data: st.DataObject) -> None:
        """One that waits is taken back."""
        entry = data.draw(st.sampled_from(self.waiting))

        assert self.core.cancel(entry)
        assert not self.core.cancel(entry)
        self.waiting.remove(entry)
        self.gone.append(entry)

    @rule(data=st.data())
    @precondition(lambda self: self.running)
    def finish(self, data: st.DataObject) -> None:
        """An instance is done."""
        instance = data.draw(st.sampled_from(sorted(self.running)))
        self.gone += self.running.pop(instance)
        self.core.finished(instance)

    @rule(later=st.integers(1, 400))
    def sleep(self, later: int) -> None:
        """Time goes on."""
        self.now_ns += later * MS

    @rule()
    def ask(self) -> None:
        """What now? Whoever leaves was waiting; a batch is within the limit, of one shape, and on a free instance."""
        decision = self.core.poll(self.now_ns)
        match decision:
            case Dispatch(instance, batch):
                assert instance not in self.running
                assert 1 <= sum(entry.rows for entry in batch) <= self.config.max_batch_size
                assert len({entry.shape for entry in batch}) == 1
                self.running[instance] = batch
                self.leave(batch)
                assert self.most_urgent(batch)
            case Reject(entries):
                for entry in entries:
                    timeout_ns = self.config.policy(self.config.level(entry.priority)).timeout_ns(entry.timeout_ns)
                    assert self.now_ns > entry.queued_ns + timeout_ns > entry.queued_ns
                self.gone += entries
                self.leave(entries)
            case Wait(until_ns):
                assert until_ns is None or until_ns > self.now_ns
                assert self.core.poll(self.now_ns) == decision

    def leave(self, entries: tuple[Entry, ...]) -> None:
        """Each of these was waiting, and does not any more."""
        for entry in entries:
            self.waiting.remove(entry)

    def most_urgent(self, batch: tuple[Entry, ...]) -> bool:
        """Nobody who waits on is more urgent than somebody who was served."""
        least = max(self.config.level(entry.priority) for entry in batch)
        return all(self.config.level(entry.priority) >= least for entry in self.waiting)

    @invariant()
    def everybody_is_somewhere(self) -> None:
        """Whoever came waits, runs or is gone; and the core's queue holds whoever waits."""
        if hasattr(self, "core"):
            assert sorted(map(id, self.core.queue)) == sorted(map(id, self.waiting))
            assert len(self.core.queue) == len(self.waiting)
            assert len(self.core.free) == self.config.instances - len(self.running)


Batching.TestCase.settings = settings(PROFILE, max_examples=200, stateful_step_count=40)
TestBatching = Batching.TestCase


@pytest.mark.parametrize("strength", [2, 3], ids=["pairs", "triples"])
def test_covering_arrays_cover(strength: int) -> None:
    """Every pair (every triple) of levels that may stand together stands in some row, and no row is forbidden."""
    rows = covering(strength)
    names = list(FACTORS)
    plain = {"size": "8", "preferred": "none", "ordering": "off", "priorities": "none", "policy": "none"}
    wanted = {
        (some, levels)
        for some in combinations(names, strength)
        for levels in product(*(FACTORS[name] for name in some))
        if allowed({**plain, **dict(zip(some, levels, strict=True))})
    }
    had = {(some, tuple(row[name] for name in some)) for row in rows for some in combinations(names, strength)}

    assert all(allowed(row) for row in rows)
    assert wanted <= had
    assert covering(strength) == rows


def test_gated_cases_are_decided_by_the_configuration() -> None:
    """Two runs of a gated case are the same, to the moment."""
    target = VirtualTarget()

    for seed in range(60):
        one, other = (live(target, gated_case(seed), count=True) for _ in range(2))
        assert not one.problems
        assert divergence(one, other, exact=True) is None


@pytest.mark.parametrize(
    ("mutant", "at_most"), [("never-batches", 40), ("stack", 40), ("delay-half", 40), ("shapes-ignored", 40)]
)
def test_random_schedules_notice_a_mutant(mutant: str, at_most: int) -> None:
    """The comparison with the original needs few schedules."""
    (found,) = strengths([mutant], at_most)

    assert 1 <= found.by_difference <= at_most


class Recording:
    """What `Combined` needs of a judging session; the first `noisy` judgements are INCONCLUSIVE."""

    def __init__(self, noisy: int, **claims: bool) -> None:
        self.info = TargetInfo("fake", "1", "fake", claims=claims)
        self.attempt = SimpleNamespace(number=1, seed=7)
        self.seed, self.noisy, self.measures = 7, noisy, {}
        self.driven: list[Any] = []
        self.judged = 0

    def drive(self, config: Any, _script: Any, *, count: bool) -> Any:
        """Note what is driven."""
        assert count
        self.driven.append(config)
        return config

    def discard(self, config: Any) -> None:
        """It was driven."""
        assert config in self.driven

    def judge(self, rule: str, evidence: Any) -> Any:
        """Be unsure at first."""
        assert (rule, evidence in self.driven) == ("DB-LAW-001", True)
        self.judged += 1
        return SimpleNamespace(verdict=Verdict.INCONCLUSIVE if self.judged <= self.noisy else Verdict.PASS)


EVERYTHING = dict.fromkeys(NEEDS.values(), True)


@pytest.mark.parametrize(("selection", "count"), [("fast", 8), ("pairs", 31), ("triples", 146)])
def test_each_combination_is_driven_once(selection: str, count: int) -> None:
    """As many as were asked for; a second law is judged on what was driven, and only what was noisy is driven again."""
    judging = Recording(noisy=2, **EVERYTHING)
    combined = Combined(judging, selection)  # type: ignore[arg-type]
    law = rules()["DB-LAW-001"]

    combined.judge(law, lambda _levels: True)
    first = len(judging.driven)
    judging.attempt = SimpleNamespace(number=2, seed=8)
    combined.judge(law, lambda _levels: True)
    second = len(judging.driven)
    judging.attempt = SimpleNamespace(number=1, seed=7)
    combined.judge(law, lambda _levels: True)

    assert (first, second, len(judging.driven)) == (count, count + 2, count + 2)
    assert judging.measures == {"combinations": f"{count} of {146 if selection == 'triples' else 31}"}


def test_what_is_not_claimed_is_not_combined() -> None:
    """A target that claims nothing is judged on plain configurations; a law that none of them concerns is not supported."""
    judging = Recording(noisy=0)
    combined = Combined(judging, "pairs")  # type: ignore[arg-type]

    combined.judge(rules()["DB-LAW-001"], lambda _levels: True)

    assert {config.features() for config in judging.driven} == {()}
    assert {config.max_queue_delay_ns for config in judging.driven} == {0}
    with pytest.raises(Unsupported, match="any combination"):
        combined.judge(rules()["DB-LAW-001"], lambda levels: levels["inputs"] != "one")
