"""Fixtures that several of these tests use."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from batchproof.bench.measurement import Bench
from batchproof.bench.record import Record
from batchproof.suites.selftest.browser import Browse, chromium
from batchproof.targets import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator


SELFTEST = Path(__file__).parent
# An example takes as long as the host takes, so none has a deadline, whatever a test's own settings leave open.
settings.register_profile("selftest", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("selftest")
FIRST = (  # the files that take longest: at the end of the list, one of them would keep a single worker busy
    "test_strangers.py", "reference_batcher/test_mutants.py", "test_ci_files.py", "fixtures/judging/test_outcome_narrow.py",
    "commands/adapter/test_check.py", "test_deployment.py", "test_stranger_engines.py", "test_action.py",
    "load/spread/test_crew.py", "test_rooms.py", "targets/triton/test_container_on_engine.py", "test_signals.py",
    "fixtures/driving/test_lives.py", "fixtures/judging/checkers/test_preconditions.py", "bench/ab/test_run.py",
    "test_stranger_sequences.py", "commands/test_lab.py", "test_cli_report.py",
    "reference_batcher/test_sequence_slots_schedules.py", "fixtures/judging/test_session_liars.py",
    "commands/env/test_view.py", "commands/env/test_make.py", "targets/triton/test_wire_ways.py",
    "reports/site/test_pages.py", "fixtures/driving/test_covering.py", "reports/html/test_report.py",
    "targets/test_stdio_node.py", "targets/engines/test_process.py",
    "targets/test_deadlines.py", "test_docs.py", "reports/history/test_writing.py",
    "targets/triton/test_compiled_strategy.py", "fixtures/test_combinations.py", "stats/test_quantiles.py",
    "targets/test_stdio.py", "fixtures/judging/test_acceptor.py", "bench/tune/test_tune.py",
    "targets/triton/test_container.py", "load/second_opinion/test_locust_run.py", "load/test_runs.py",
    "fixtures/judging/test_side_by_side.py", "targets/kit/test_processes.py", "commands/test_new_adapter.py",
    "reports/history/test_store.py", "test_docs_examples.py", "load/second_opinion/test_perf_analyzer.py",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep thousands of collected tests away from the garbage collector: to look at them takes a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the slowest files to the workers first (`--dist loadfile --no-loadscope-reorder`)."""
    place = {(SELFTEST / name).resolve(strict=True): number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path, len(FIRST)))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """`bench(target="virtual", ...)`: a quick bench into a folder of its own."""
    records: list[Record] = []

    def make(target: str = "virtual", **more: Any) -> Bench:
        records.append(Record(tmp_path / f"out{len(records)}"))
        return Bench(resolve(target), records[-1], quick=True, **more)

    yield make
    for one in records:
        one.writer.close()


@pytest.fixture
def longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make runs longer than people would want them: in simulated time that costs little."""
    monkeypatch.setattr(Bench, "seconds", lambda _, _full, quick: 2.5 * quick)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser without a window for the tests of a module: while it is there, this thread has a running event loop."""
    with chromium() as started:
        yield started


@pytest.fixture
def browse(browser: Any) -> Iterator[Browse]:
    """`browse(file)` opens a page. At the end its console must have been silent, and nothing may have used a network."""
    opened = Browse(browser)
    yield opened
    opened.close()
    assert (opened.complaints, opened.network) == ([], [])
