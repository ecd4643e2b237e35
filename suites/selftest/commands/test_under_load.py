"""A bench looks at what it has sent: a batcher that is fast and wrong is not measured as if it were right."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from batchproof.bench.run import Options, run
from batchproof.bench.tune.command import TuneOptions, run_tune
from batchproof.bench.under_load import Looked, UnderLoad
from batchproof.commands.under_load import look_for
from batchproof.load.traffic import Traffic
from batchproof.load.workload import MS, Served, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.virtual import VirtualTarget

CONFIG = BatcherConfig(max_batch_size=4)


def benched(target: str, folder: Path, only: str = "sweep") -> tuple[int, str]:
    """Return the exit status of a measurement and what it printed."""
    console = Console(file=io.StringIO(), width=200, soft_wrap=True)
    status = run(Options(target, quick=True, only=only, report=folder), console, judges=look_for)
    return int(status), console.file.getvalue()  # type: ignore[attr-defined]


def test_a_right_batcher_is_said_to_be_right(tmp_path: Path) -> None:
    """Thousands of requests have been looked at, and the last lines say so."""
    status, said = benched("virtual", tmp_path)

    count = next(int(line.split()[0]) for line in said.splitlines() if "requests judged: each result is its own" in line)
    assert (status, count > 1000) == (0, True)
    assert not list(tmp_path.glob("*wrong*"))


def test_a_batcher_that_mixes_results_up_fails_however_fast_it_is(tmp_path: Path) -> None:
    """The measurement's line says what was wrong, and a page alongside the report shows it."""
    status, said = benched("mutant:results-swapped", tmp_path)

    page = (tmp_path / "sweep-wrong-under-load.txt").read_text(encoding="utf-8")
    assert (status, "requests judged" in said) == (1, False)
    assert "FAIL" in said
    assert "wrong under load: wrong answer: r" in said
    assert page.startswith("wanted: each request gets its own result")
    assert "found: wrong answer: r" in page


def test_a_tuning_looks_too(tmp_path: Path) -> None:
    """What it has verified would be worth nothing."""
    options = TuneOptions("mutant:results-swapped", quick=True, out=tmp_path / "config.pbtxt", report=tmp_path / "report")

    assert run_tune(options, Console(file=io.StringIO()), judges=look_for) == 1
    assert not options.out.exists()


def test_a_look_takes_the_requests_with_it() -> None:
    """The next look at the same model sees what was sent since; a refusal is not a mistake."""
    with Served(VirtualTarget().deploy(CONFIG), Work("device", "", MS)) as served:
        served.traffic = Traffic(served.clock.now_ns)
        answers = [served.submit(number, rows=rows) for number, rows in enumerate((1, 2, 5))]
        served.clock.wait(lambda: all(one.done() for one in answers), 10**12)
        look = look_for(VirtualTarget().info)

        assert look(served, CONFIG) == Looked(3)
        assert look(served, CONFIG) == Looked(0)


def test_mistakes_are_told_once() -> None:
    """By the measurement in which they were made."""
    under_load = UnderLoad(lambda _served, _config: Looked(2, "too large"))
    with Served(VirtualTarget().deploy(CONFIG), Work("device", "", MS)) as served:
        under_load.judge(served, CONFIG)

    assert (under_load.requests, under_load.taken(), under_load.taken()) == (2, [Looked(2, "too large")], [])


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bench of millions of requests keeps the first of them."""
    monkeypatch.setattr("batchproof.load.traffic.MOST", 3)
    with Served(VirtualTarget().deploy(CONFIG), Work("device", "", MS)) as served:
        served.traffic = Traffic(served.clock.now_ns)
        answers = [served.submit(number) for number in range(6)]
        served.clock.wait(lambda: all(one.done() for one in answers), 10**12)

        assert len(served.traffic.taken()) == 3


@pytest.mark.parametrize(
    ("target", "wrong"),
    [
        ("virtual", ""),
        ("mutant:sequence-closed-up", "ran in instance 0, slot"),
        ("mutant:sequence-answers-swapped", "got a wrong answer"),
        ("mutant:sequence-slot-leaks", "got no answer"),
    ],
)
def test_the_load_of_sequences_is_judged_by_their_laws(target: str, wrong: str, tmp_path: Path) -> None:
    """A sequence that is moved, answers that are swapped: fast or not, that is wrong under load."""
    status, said = benched(target, tmp_path, "sequences")

    assert (status == 0) == (not wrong)
    assert wrong in said
