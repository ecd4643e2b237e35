"""Triton's metrics under test: they are read as Prometheus writes them, and anything else is refused in one message."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, ClassVar

import pytest

from batchproof.targets.protocol import TargetError
from batchproof.targets.triton.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = r"""# HELP nv_inference_pending_request_count Instantaneous number of pending requests awaiting execution per-model.
# TYPE nv_inference_pending_request_count gauge
nv_inference_pending_request_count{model="bp_8",version="1"} 3
nv_inference_pending_request_count{model="bp_8_more",version="1"} 7
nv_inference_pending_request_count{model="a \"quoted\" {name}",version="1"} 2
# TYPE nv_inference_request_failure counter
nv_inference_request_failure{model="bp_8",reason="REJECTED",version="1"} 4
nv_inference_request_failure{model="bp_8",reason="BACKEND",version="1"} 1
nv_inference_request_failure{model="bp_8",reason="OTHER",version="1"} 9
nv_inference_request_failure{model="bp_8_more",reason="CANCELED",version="1"} 5
nv_cpu_utilization 0.25
"""


class Handler(BaseHTTPRequestHandler):
    """Answer with a text."""

    text: ClassVar[str] = TEXT

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def metrics() -> Iterator[Metrics]:
    """Serve the metrics of a server that is not a Triton."""
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    read = Metrics(f"127.0.0.1:{server.server_port}")
    yield read
    read.close()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(("model", "count"), [("bp_8", 3), ("bp_8_more", 7), ('a "quoted" {name}', 2), ("bp", 0)])
def test_the_gauge_belongs_to_the_model(metrics: Metrics, model: str, count: int) -> None:
    """A model has its own count, even if another model's name begins like its own, and 0 if it has no line."""
    assert metrics.pending(model) == count


def test_failures_are_counted_by_reason(metrics: Metrics) -> None:
    """Triton's reasons are mapped to our words; those without one are left out."""
    assert metrics.failures("bp_8") == {"expired": 4, "cancelled": 0, "failed": 1}
    assert metrics.failures("bp_8_more") == {"expired": 0, "cancelled": 5, "failed": 0}


def test_what_is_not_a_metric_is_refused(metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that cannot be read is one message, which names the address."""
    monkeypatch.setattr(Handler, "text", 'nv_inference_pending_request_count{model="bp_8} three\n')

    with pytest.raises(TargetError, match=r"http://127.0.0.1:\d+/metrics does not answer with Prometheus metrics"):
        metrics.pending("bp_8")


def test_no_metrics_says_how_to_name_the_port() -> None:
    """If no server listens, the message says which option is missing."""
    with pytest.raises(TargetError, match=r"no metrics at http://127.0.0.1:1/metrics .*: name .*\?metrics=PORT"):
        Metrics("127.0.0.1:1").pending("bp_8")
