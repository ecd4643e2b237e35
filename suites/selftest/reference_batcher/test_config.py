"""The reference batcher's configuration under test: what is refused, and what survives being written and read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.reference_batcher import BatcherConfig, ConfigError, TensorSpec


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_batch_size": 0}, "max_batch_size must be at least 1, not 0"),
        ({"instances": 0}, "instances must be at least 1, not 0"),
        ({"max_queue_delay_ns": -1000}, "max_queue_delay_ns must be at least 0"),
        ({"queue_timeout_ns": 1}, "queue_timeout_ns must be a whole number of microseconds, not 1 ns"),
    ],
    ids=str,
)
def test_impossible_config_is_refused(fields: dict[str, int], message: str) -> None:
    """A configuration that no batcher can follow is refused by the name of the field."""
    with pytest.raises(ConfigError, match=message):
        BatcherConfig(**fields)


MICROSECONDS = st.integers(0, 10**9).map(lambda us: us * 1000)
CONFIGS = st.builds(
    BatcherConfig, name=st.sampled_from(["model", "a_b"]), max_batch_size=st.integers(1, 512),
    max_queue_delay_ns=MICROSECONDS, instances=st.integers(1, 9), queue_timeout_ns=MICROSECONDS,
    inputs=st.lists(st.builds(TensorSpec, st.sampled_from(["IN", "x"]), st.sampled_from(["TYPE_INT64", "TYPE_FP32"]),
                              st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)), max_size=2).map(tuple),
    parameters=st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["", "x"])),
)


@settings(max_examples=30, database=None, deadline=None)
@given(CONFIGS)
def test_config_survives_pbtxt(config: BatcherConfig) -> None:
    """A configuration written as config.pbtxt and read back is the same."""
    assert BatcherConfig.from_pbtxt(config.to_pbtxt()) == config
