"""The strategies that a configuration can name."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from batchproof.reference_batcher import BatcherConfig, ConfigError
from batchproof.reference_batcher.strategies import nbytes, problem, strategy_of


def joins(name: str, *volumes: int) -> list[bool]:
    """Return who joins one batch, asked one after another; a volume is the number itself."""
    strategy = strategy_of(name, int)
    assert strategy is not None
    record = strategy.batch_initialize()
    return [strategy.include(SimpleNamespace(inputs=volume), record) for volume in volumes]


@pytest.mark.parametrize(
    ("name", "volumes", "wanted"),
    [
        ("volume:96", (64, 33, 32), [True, False, True]),
        ("volume:96", (97, 1), [False, False]),
        ("alone", (1, 1), [True, False]),
        ("first", (2, 9, 9), [True, True, False]),
        ("first", (0, 9, 9), [True, True, True]),
        ("slow:0", (1, 1), [True, True]),
        ("raises:7", (1, 2), [True, True]),
        ("fragile:96", (97, 96, 1), [False, True, False]),
    ],
)
def test_who_joins(name: str, volumes: tuple[int, ...], wanted: list[bool]) -> None:
    """As the names say."""
    assert joins(name, *volumes) == wanted


def test_who_raises() -> None:
    """`raises` does so each time, `raises-once` only once."""
    for name in ("raises:7", "raises-once:7"):
        with pytest.raises(RuntimeError, match="a request of volume 7"):
            joins(name, 1, 7)
    strategy = strategy_of("raises-once:7", int)
    assert strategy is not None
    seven = SimpleNamespace(inputs=7)
    with pytest.raises(RuntimeError, match="7"):
        strategy.include(seven, strategy.batch_initialize())
    assert strategy.include(seven, strategy.batch_initialize())


def test_each_hook_of_a_fragile_one_raises() -> None:
    """`include` for 7, `batch_finalize` after 13, the next `batch_initialize` after 11, and `batcher_finalize` after 17."""
    strategy = strategy_of("fragile:96", int)
    assert strategy is not None
    record = strategy.batch_initialize()
    strategy.batcher_finalize()
    with pytest.raises(RuntimeError, match="a request of volume 7"):
        strategy.include(SimpleNamespace(inputs=7), record)
    strategy.batch_finalize(record)
    assert all(strategy.include(SimpleNamespace(inputs=volume), record) for volume in (13, 11, 17))
    with pytest.raises(RuntimeError, match="volume of 13"):
        strategy.batch_finalize(record)
    with pytest.raises(RuntimeError, match="volume of 11"):
        strategy.batch_initialize()
    strategy.batch_finalize(strategy.batch_initialize())
    with pytest.raises(RuntimeError, match="volume of 17"):
        strategy.batcher_finalize()


def test_a_configuration_names_it() -> None:
    """It is a fact, a parameter in config.pbtxt, and a feature; a name that means nothing is refused."""
    config = BatcherConfig(strategy="volume:96")

    assert config.facts()["strategy"] == "volume:96"
    assert BatcherConfig.from_facts(config.facts()) == config
    assert BatcherConfig.from_pbtxt(config.to_pbtxt()).strategy == "volume:96"
    assert BatcherConfig.from_pbtxt(config.to_pbtxt()).parameters == {}
    assert config.features() == ("custom_batching",)
    assert "strategy" not in BatcherConfig().facts()
    assert "strategy" not in BatcherConfig().to_pbtxt()
    with pytest.raises(ConfigError, match=r"strategy must be one of alone, first, volume:N, .* not 'volume'"):
        BatcherConfig(strategy="volume")
    assert all(problem(name) for name in ("", "volume:", "volume:-1", "volume:²", "alone:3", "none"))


def test_bytes_of_inputs() -> None:
    """The sum over all tensors; a list counts its elements."""
    assert nbytes({"a": np.zeros((2, 3), np.int32), "b": (np.zeros(1, np.int8), [1, 2])}) == 24 + 1 + 2
