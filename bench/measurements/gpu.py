"""The same on CUDA: batches of a torch model with their copies, pinned or not, on one stream and on two; utilisation.

Without CUDA it is skipped, with the reason. Times are the host's, from the copy in to the result on the
host, as a client would wait for it; before each, the device is idle. First runs of each size warm up: kernels are chosen
and loaded. Then a target that serves torch modules serves the model on CUDA, and one request at a time is compared with a
crowd, as in `naive`.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from batchproof.bench.calibration import Calibrate
from batchproof.bench.measurement import Bench
from batchproof.bench.measurements.naive import Naive, compared
from batchproof.bench.oracle.curve import Curve, Knee
from batchproof.bench.result import Result
from batchproof.load.workload import WORKS, Skipped, Work
from batchproof.stats.gates import worst

SIZES = (1, 8, 32, 128)
ROUNDS = (30, 10)  # full, quick
WARM_UP = 5
FLOW_S = (5.0, 1.0)
SAMPLED_S = 0.05


@dataclass(frozen=True)
class GpuPoint:
    """One batch size. tau_ns: from pinned memory; unpinned_ns: from other memory. Rows a second: without a pause."""

    rows: int
    tau_ns: int
    unpinned_ns: int
    rows_per_s_1_stream: float
    rows_per_s_2_streams: float
    utilisation_percent: float | None


@dataclass(frozen=True)
class GpuModel:
    """A torch model on CUDA, by batch size, and what batching gains there; None where the target serves no torch module."""

    points: tuple[GpuPoint, ...]
    gain: Naive | None = None

    @cached_property
    def knee(self) -> Knee:
        """Where larger batches stop paying."""
        return curve_of(self.points).knee()

    @property
    def says(self) -> str:
        """Its part of the headline."""
        return f"{self.knee.reason}; batched: {self.gain.says}" if self.gain else self.knee.reason

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        gain = {"naive": self.gain.facts()} if self.gain else {}
        return {"points": [asdict(one) for one in self.points], "knee": vars(self.knee), **gain}


@dataclass(frozen=True)
class Gpu:
    """Torch models on a CUDA device."""

    device: str
    models: Mapping[str, GpuModel]

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"device": self.device, "models": {name: one.facts() for name, one in self.models.items()}}


def curve_of(points: Sequence[GpuPoint]) -> Curve:
    """Return the time of a batch against its rows."""
    return Curve(tuple(one.rows for one in points), tuple(one.tau_ns or 1 for one in points))


def unavailable() -> str:
    """Return why CUDA cannot be used here, or an empty string."""
    if find_spec("torch") is None:
        return "torch is not installed: pip install 'batchproof[reference]'"
    if (version := metadata.version("torch")).endswith("+cpu"):  # known without the seconds that its import takes
        return f"torch {version} is built without CUDA"
    import torch

    return "" if torch.cuda.is_available() else "no CUDA device was found"


def measure(bench: Bench, _calibrate: Calibrate) -> Result:
    """Measure each torch model of the bench, or all torch models if the bench has none."""
    if why := unavailable():
        raise Skipped(why)
    import torch

    works = [work for work in bench.works if work.model] or [work for work in WORKS.values() if work.model]
    found = Gpu(torch.cuda.get_device_name(), {work.name: _model(bench, work) for work in works})
    told = "; ".join(f"{name}: {one.says}" for name, one in found.models.items())
    gains = {name: one.gain for name, one in found.models.items() if one.gain}
    return Result(
        valid=all(gain.valid for gain in gains.values()),
        headline=f"{found.device}: {told}",
        reasons=tuple(f"{name}: {reason}" for name, gain in gains.items() for reason in gain.reasons),
        verdict=worst(gain.verdict for gain in gains.values()),
        found=found,
    )


def _model(bench: Bench, work: Work) -> GpuModel:
    points = _points(bench, work.model)
    if not bench.target.serves_torch:
        return GpuModel(points)
    return GpuModel(points, compared(bench, work, curve_of(points), 1e9 / points[0].tau_ns, "cuda"))


def _points(bench: Bench, name: str) -> tuple[GpuPoint, ...]:
    import torch

    from batchproof.load.models import build

    make_stream: Any = torch.cuda.Stream  # its constructor has no types

    module, inputs = build(name, "cuda")
    points = []
    for rows in SIZES:
        bench.say(f"{name} on CUDA: batches of {rows}")
        host = inputs(rows)
        pinned = host.pin_memory()
        streams = [make_stream(), make_stream()]
        plain_ns = _timed(partial(_run, module, host, streams[0]), bench)
        pinned_ns = _timed(partial(_run, module, pinned, streams[0]), bench)
        alone, both = (_flow([partial(_run, module, pinned, on) for on in some], bench) for some in (streams[:1], streams))
        points.append(GpuPoint(rows, pinned_ns, plain_ns, rows * alone[0], rows * both[0], both[1]))
    return tuple(points)


def _run(module: Any, batch: Any, stream: Any) -> None:
    import torch

    with torch.inference_mode(), torch.cuda.stream(stream):
        module(batch.to("cuda", non_blocking=True)).to("cpu")  # waits for the stream, and for nothing else


def _timed(run: Callable[[], None], bench: Bench) -> int:
    """Return the median time of a run in ns."""
    import torch

    for _ in range(WARM_UP):
        run()
    times = []
    for _ in range(ROUNDS[int(bench.quick)]):
        torch.cuda.synchronize()
        start_ns = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start_ns)
    return max(1, round(statistics.median(times)))


def _flow(runs: Sequence[Callable[[], None]], bench: Bench) -> tuple[float, float | None]:
    """Run each over and over on a thread of its own; return runs a second in all, and the mean utilisation in percent."""
    end = time.monotonic() + FLOW_S[int(bench.quick)]
    counts = [0] * len(runs)

    def go(at: int) -> None:
        while time.monotonic() < end:
            runs[at]()
            counts[at] += 1

    threads = [threading.Thread(target=go, args=(at,), daemon=True) for at in range(len(runs))]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    used = []
    while any(thread.is_alive() for thread in threads):
        used.append(_utilisation())
        time.sleep(SAMPLED_S)
    took_s = time.monotonic() - started
    known = [percent for percent in used if percent is not None]
    return sum(counts) / took_s, statistics.fmean(known) if known else None


def _utilisation() -> float | None:
    """Return the device's utilisation in percent, where NVIDIA's management library can be asked."""
    import torch

    try:
        return float(torch.cuda.utilization())
    except Exception:  # pynvml is absent, or the driver does not tell
        return None
