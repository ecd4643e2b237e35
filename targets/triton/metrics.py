"""Triton's metrics endpoint: how many requests wait for a model, and how many have failed and why."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from batchproof.targets.deadlines import timeout_s
from batchproof.targets.kit.bounded import BoundedConnection, Endless
from batchproof.targets.protocol import TargetError

PENDING = "nv_inference_pending_request_count"
FAILURES = "nv_inference_request_failure"
REASONS = {"REJECTED": "expired", "CANCELED": "cancelled", "BACKEND": "failed"}


def samples(text: str, name: str, model: str) -> Iterator[Sample]:
    """Yield the samples of one metric and one model; ValueError if a line cannot be read.

    Only lines that may be about them are parsed, because a server has hundreds of others and is polled every millisecond.
    """
    wanted = (line for line in text.split("\n") if line.startswith(f"{name}{{") and (model in line or "\\" in line))
    lines = "".join(f"{line}\n" for line in wanted)
    for family in text_string_to_metric_families(lines):
        yield from (sample for sample in family.samples if sample.labels.get("model") == model)


class Metrics:
    """Reads the metrics of a server, over one connection that is kept open."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: http.client.HTTPConnection | None = None
        self._lock = threading.Lock()

    def pending(self, model: str) -> int:
        """Return how many requests the model's queue holds, as the server counts them; TargetError if it cannot be read."""
        return int(sum(sample.value for sample in self._samples(PENDING, model)))

    def failures(self, model: str) -> dict[str, int]:
        """Return how many of the model's requests were `expired`, `cancelled`, or `failed`; TargetError as `pending`."""
        counts = dict.fromkeys(REASONS.values(), 0)
        for sample in self._samples(FAILURES, model):
            if reason := REASONS.get(sample.labels.get("reason", "")):
                counts[reason] += int(sample.value)
        return counts

    def close(self) -> None:
        """Disconnect."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _samples(self, name: str, model: str) -> list[Sample]:
        try:
            return list(samples(self._text(), name, model))
        except ValueError as error:
            raise TargetError(f"{self._where} does not answer with Prometheus metrics: {error}") from None

    @property
    def _where(self) -> str:
        return f"http://{self._address}/metrics"

    def _text(self) -> str:
        with self._lock:
            for again in (True, False):
                try:
                    if self._connection is None:
                        self._connection = BoundedConnection(self._address, seconds=timeout_s("CALL_S"))
                    self._connection.request("GET", "/metrics")
                    return self._connection.getresponse().read().decode("utf-8", "replace")
                except (OSError, http.client.HTTPException) as error:
                    self.close()
                    if not again or isinstance(error, Endless):
                        why = f"no metrics at {self._where} ({error}): name their port with ?metrics=PORT"
                        raise TargetError(why) from None
        raise AssertionError
