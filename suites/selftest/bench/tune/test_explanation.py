"""Why a configuration was chosen, in words."""

from batchproof.bench.tune.explanation import between
from batchproof.bench.tune.search import Forecast
from batchproof.reference_batcher import BatcherConfig


def forecast(size: int, rate: float) -> Forecast:
    """Return a configuration that is predicted to serve this rate."""
    return Forecast(BatcherConfig(max_batch_size=size), 1000.0, 30_000_000, 5_000_000, rate, 20_000_000, 1.0)


def test_why_the_highest_qps_was_not_chosen_although_it_holds() -> None:
    """The explanation says that a lower rate is predicted for it, or that a higher prediction was not confirmed."""
    assert "The chosen one is predicted to serve more" in between(forecast(16, 96), forecast(32, 80))
    assert "predicted to do so at 99/s (the chosen one at 96/s)" in between(forecast(16, 96), forecast(32, 99))
