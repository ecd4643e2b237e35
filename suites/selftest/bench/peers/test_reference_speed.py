"""The batcher's speed, without a stopwatch: what it keeps, what it looks at; and the code that measures it."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from batchproof.bench.peers import adapters as inprocess
from batchproof.bench.peers import comparison as peers
from batchproof.bench.peers import reference_speed as speed
from batchproof.bench.peers.adapters import KINDS, Kind
from batchproof.bench.peers.comparison import Load
from batchproof.bench.peers.device import Device
from batchproof.host.clock import HostClock
from batchproof.load.workload import Skipped
from batchproof.reference_batcher import Batcher, BatcherConfig
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Dispatch, Entry, Wait
from batchproof.reference_batcher.threaded import ANSWER_NS

LONG = 30
HOUR = 3600 * 10**9
TINY = Load("tiny", 1_000_000, 4)
PAYLOAD = np.zeros((1, 8), np.int64)


class Counted(Entry):
    """An entry that knows how often somebody asked for its rows."""

    asked = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "rows":
            Counted.asked += 1
        return super().__getattribute__(name)


def looks(size: int) -> int:
    """How often the core asks for an entry's rows while a batch of `size` fills up under a queue delay."""
    core = DynamicBatcher(BatcherConfig(max_batch_size=size, max_queue_delay_ns=HOUR))
    Counted.asked = 0
    for number in range(size):
        core.enqueue(Counted(1, number, None))
        decision = core.poll(number)
    assert isinstance(decision, Dispatch)
    return Counted.asked


def test_a_batch_that_fills_up_is_not_counted_anew_by_each_arrival() -> None:
    """The work of filling a batch grows with its size and not with the square of it."""
    assert looks(256) <= 4 * looks(64) + 64


def test_a_head_that_changed_is_counted_anew() -> None:
    """What was remembered of a waiting head is forgotten when a member leaves or somebody overtakes."""
    levels = {"priority_levels": 2, "default_priority_level": 2}
    core = DynamicBatcher(BatcherConfig(max_batch_size=3, max_queue_delay_ns=HOUR, **levels))
    first, second, urgent, last = (Entry(1, 0, name, 1 if name == "urgent" else 2) for name in ("a", "b", "urgent", "c"))
    for entry in (first, second):
        core.enqueue(entry)
        assert core.poll(0) == Wait(HOUR)
    core.cancel(first)
    core.enqueue(urgent)
    assert core.poll(0) == Wait(HOUR)
    core.enqueue(last)

    assert core.poll(0) == Dispatch(0, (urgent, second, last), 0)


def test_an_answered_request_keeps_nothing_alive() -> None:
    """Inputs are freed when the caller lets go of them and of the answer, without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        with Batcher(lambda rows: rows + 1) as batcher:
            inputs = np.zeros((1, 4))
            kept = weakref.ref(inputs)
            future = batcher.submit(inputs)
            future.result(LONG)
            del inputs, future

            assert HostClock().wait(lambda: kept() is None, time.monotonic_ns() + LONG * 10**9)  # its thread lets go, too
    finally:
        gc.enable()


def test_the_model_goes_on_while_a_callback_blocks() -> None:
    """An instance that has its next batch runs it, whatever the callbacks of the last one are doing."""
    entered, second, release = threading.Event(), threading.Event(), threading.Event()
    pause_ns = 5 * ANSWER_NS

    def model(rows: list[int]) -> list[int]:
        entered.set()
        if rows == [0]:
            plugged.wait(LONG)
        Device(pause_ns)(rows)
        if rows == [1]:
            second.set()
        return rows

    plugged = threading.Event()
    with Batcher(model, BatcherConfig(max_batch_size=1)) as batcher:
        plug = batcher.submit([0])
        plug.add_done_callback(lambda _: release.wait(LONG))
        assert entered.wait(LONG)
        behind = batcher.submit([1])
        plugged.set()
        ran = second.wait(LONG)
        release.set()

        assert behind.result(LONG) == [1]
    assert ran


def test_answers_of_one_instance_do_not_overtake_each_other() -> None:
    """Batches are answered in the order in which they ran, whichever thread answers."""
    order: list[int] = []
    plugged = threading.Event()

    def model(rows: list[int]) -> list[int]:
        plugged.wait(LONG)
        return Device(3 * ANSWER_NS if rows[0] % 3 else 0)(rows)

    with Batcher(model, BatcherConfig(max_batch_size=1)) as batcher:
        futures = [batcher.submit([number]) for number in range(300)]
        for number, future in enumerate(futures):
            future.add_done_callback(lambda _, number=number: order.append(number))
        plugged.set()

    assert order == list(range(300))


def test_threads_are_set_where_the_model_runs() -> None:
    """`threads` is what torch has on each instance's thread."""
    torch = pytest.importorskip("torch", reason="the extra `reference` (torch) is not installed")
    seen = set()

    def model(batch: Any) -> Any:
        seen.add((threading.current_thread().name, torch.get_num_threads()))
        return batch

    before = torch.get_num_threads()
    with Batcher(model, threads=1) as batcher:
        batcher.submit(torch.zeros(1, 2)).result(LONG)

    assert seen == {("batcher-instance-0", 1)}
    assert torch.get_num_threads() == before


def test_the_device_is_never_early() -> None:
    """A device keeps a batch for its time at least, and says what it really was."""
    device = Device(2_000_000)

    assert device(PAYLOAD) is PAYLOAD
    assert (device.batches, device.rows) == (1, 1)
    assert device.took_ns() >= 2_000_000


def test_saturation_is_told_against_both_limits() -> None:
    """The share of the limit is never above that of the device as it was, nor that much above 1."""
    row = speed.saturation(1_000_000, 4, 0.2)

    assert row["limit_per_s"] == 4000
    assert 0 < row["share"] <= row["share_of_device"] + 1e-9
    assert row["mean_batch"] > 2
    assert row["share_of_device"] < 1.3  # the last answers come while nothing is sent any more


def test_a_request_that_waits_costs_something() -> None:
    """Waiting threads are counted, each of their requests once."""
    row = speed.waiting_clients(2, 2, 0.1)

    assert row["requests"] > 0
    assert row["p50_us"] <= row["p99_us"]


def test_invalid_figures_are_not_shown() -> None:
    """A row of an invalid run has what was asked and INVALID, and no figure."""
    row = {"tau_ns": 1, "max_batch": 8, "per_s": 5.0, "limit_per_s": 8.0, "share": 0.6, "valid": False, "reasons": ["noise"]}
    found = {"saturation": [row], "overhead": [], "added": [], "held": [], "torch": [{"skipped": "no torch"}]}

    table = speed.tables(found)[0]

    assert dict(zip(table["heads"], table["rows"][0], strict=True)) == {
        "tau_ns": 1, "max_batch": 8, "per_s": "INVALID", "limit_per_s": 8.0, "share": "INVALID",
        "share_of_device": "INVALID", "mean_batch": "INVALID", "p99_us": "INVALID",
    }
    assert "| 1 | 8 | INVALID | 8.0 |" in speed.text([table])


HERE = [kind for kind in KINDS if kind.name != "ray-serve" or find_spec("ray")]  # Ray wants an environment of its own


@pytest.fixture(params=HERE, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each peer that is installed; those of the extra `peers` are missed where they are not."""
    try:
        request.param.version()
    except Skipped as reason:
        pytest.skip(str(reason))
    return request.param


@pytest.mark.filterwarnings("ignore")  # of the peers' own modules
def test_a_peer_answers_each_request_with_its_own(kind: Kind) -> None:
    """Every adapter batches, gives each its own answer, passes the model's exception on, and ends."""
    sizes, threads = [], threading.active_count()

    def model(items: list[int]) -> list[int]:
        sizes.append(len(items))
        if -1 in items:
            raise ValueError("boom")
        return [2 * item for item in Device(2_000_000)(items)]

    peer = kind.open(model, 4, 1_000_000)
    try:
        answers = [future.result(LONG) for future in [peer.submit(number) for number in range(12)]]
        failed = peer.submit(-1).exception(LONG)
    finally:
        peer.close()

    assert answers == [2 * number for number in range(12)]
    assert 1 < max(sizes) <= 4
    assert failed is not None
    assert threading.active_count() <= threads + (kind.name == "ray-serve") * 8


def test_a_peer_that_is_not_there_is_skipped() -> None:
    """A peer that is not installed, or whose inside has changed, is skipped with the reason."""
    absent = Kind("nobody", "no-such-distribution", inprocess.Batched)

    def changed(*_: Any) -> Any:
        raise AttributeError("no _schedule")

    odd = Kind("odd", "numpy", changed)
    for one, reason in ((absent, "'no-such-distribution' is not installed"), (odd, "cannot be driven")):
        with pytest.raises(Skipped, match=reason):
            one.open(list, 4, 0)


def test_peers_are_compared_in_turn() -> None:
    """Each round has every peer once; a row for each, with the reason for who cannot take part."""
    turns: list[str] = []

    def absent(_load: Load) -> Any:
        raise Skipped("not today")

    both = {"batchproof": peers.reference, "again": peers.reference, "absent": absent}
    rows = peers.compare([TINY], both, rounds=2, seconds=0.05, say=turns.append)

    assert [turn.split(": ")[1] for turn in turns] == [
        "batchproof, 1 of 2", "again, 1 of 2", "absent, 1 of 2", "batchproof, 2 of 2", "again, 2 of 2"]
    assert {row["peer"]: row.get("skipped", "") for row in rows} == {"batchproof": "", "again": "", "absent": "not today"}
    assert [row["slices"] for row in rows if "slices" in row] == [2, 2]


def row(per_s: float, *, valid: bool = True) -> dict[str, Any]:
    """A slice's figures."""
    return {"per_s": per_s, "p50_us": 1.0, "p99_us": 2.0, "valid": valid, "reasons": [] if valid else ["noise"]}


def test_only_valid_slices_count() -> None:
    """Medians are of valid slices, ratios of rounds in which both were valid; with none there is no figure."""
    first = [row(4000), row(9, valid=False), row(3000)]
    found = {"us": first, "them": [row(1000), row(1), row(1500)], "lost": [row(1, valid=False)] * 3}

    us, them, lost = peers._summed(TINY, found)

    assert (us["per_s"], us["limit_share"], us["reference_over_it"]) == (3500, 0.875, 1)
    assert them["reference_over_it"] == 3
    assert (lost["valid"], lost["per_s"], lost["reference_over_it"], lost["reasons"]) == (False, None, None, ["noise"])
    heads, rows = (peers.tables({"closed": [lost], "open": []})[0][key] for key in ("heads", "rows"))
    assert dict(zip(heads, rows[0], strict=True))["per_s"] == "INVALID"


def test_everybody_is_asked() -> None:
    """The table has the reference first, every in-process peer, and Triton where there is a target."""
    names = list(peers.everybody(target=object()))

    assert names[0] == "batchproof"
    assert set(names) == {"batchproof", *(one.name for one in KINDS), "triton over gRPC"}
