"""The gate of an engine that iterates by itself."""

from __future__ import annotations

import threading

from batchproof.targets.witness.gate import HANDFUL, Gate
from batchproof.targets.witness.language import prompt
from batchproof.targets.witness.paged import PagedCache


def test_a_model_waits_for_a_step():
    """Nothing is computed between two steps, and something is during one."""
    gate = Gate()
    cache = PagedCache(4, 4, gate)
    done = threading.Event()
    thread = threading.Thread(target=lambda: (cache.run([(prompt(1, 6), 0, [0, 1])]), done.set()), daemon=True)
    thread.start()

    before = cache.log()
    gate.step(done.is_set, 20)
    thread.join(20)

    assert before == []
    assert len(cache.log()) == 1


def test_a_handful_passes_at_a_time():
    """What happens in a step that has seen its news is a few iterations, however quick the model is."""
    gate = Gate()
    passed: list[int] = []
    threading.Thread(target=lambda: [(gate.wait(), passed.append(1)) for _ in range(1000)], daemon=True).start()

    gate.step(lambda: passed, 20)
    seen = len(passed)
    gate.step(lambda: len(passed) > HANDFUL + 1, 20)
    gate.remove()

    assert 1 <= seen <= HANDFUL + 1


def test_a_step_without_news_ends():
    """If nothing comes, a step is over after its time."""
    Gate().step(lambda: False, 0.01)


def test_a_gate_that_is_removed_holds_nothing():
    """An engine that is closed goes on to its end, also behind a later step."""
    gate = Gate()
    gate.remove()
    gate.step(lambda: True)

    gate.wait()
