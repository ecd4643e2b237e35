"""The configuration of sequences under test: what Triton's message holds, and what is alongside it."""

from __future__ import annotations

import numpy as np
import pytest

from batchproof.reference_batcher import BatcherConfig, SequenceBatching, StateSpec
from batchproof.reference_batcher.sequence_config import initial_states


def stateful(**state: object) -> SequenceBatching:
    """Return sequences with one state."""
    return SequenceBatching(state=(StateSpec("STATE", "STATE_AFTER", "TYPE_INT64", (2,), **state),))  # type: ignore[arg-type]


@pytest.mark.parametrize("initial", [None, 0, 7])
@pytest.mark.parametrize("one_buffer", [False, True])
def test_a_state_is_read_as_it_was_written(initial: int | None, one_buffer: bool) -> None:
    """The state's initial value survives the way through config.pbtxt and through facts."""
    config = BatcherConfig(sequence=stateful(initial=initial, one_buffer=one_buffer))

    assert BatcherConfig.from_pbtxt(config.to_pbtxt()).sequence == config.sequence
    assert BatcherConfig.from_facts(config.facts()).sequence == config.sequence


@pytest.mark.parametrize(("initial", "files"), [(None, []), (0, []), (7, [("initial_state/STATE_7", [7, 7])])])
def test_an_initial_value_is_a_file(initial: int | None, files: list[tuple[str, list[int]]]) -> None:
    """Zeros need no file, and neither does a state that begins as anything."""
    found = initial_states(stateful(initial=initial))

    assert [(name, np.frombuffer(content, dtype="int64").tolist()) for name, content in found.items()] == files
