"""The witness: a payload arrives complete, and servers and simulations report the same for the same batch."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.fixtures.driving.script import Send
from batchproof.fixtures.evidence.timeline import Sent
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import Kind, Refused, Request
from batchproof.targets.reference import ReferenceTarget
from batchproof.targets.verbs import full
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness import probe
from batchproof.targets.witness.probe import COLUMNS, INFO, Head, Payload, Place, Witness, WitnessError, decode, encode

MS = 1_000_000
INTS = st.integers(0, (1 << 62) - 1)
ASKED = {"rows": st.integers(1, 9), "fail": st.booleans()}  # every other field is any number
PAYLOADS = st.builds(Payload, **{one.name: ASKED.get(one.name, INTS) for one in fields(Payload)})
TIMES = [INFO.index(name) for name in ("enter_ns", "exit_ns")]


@settings(max_examples=50, database=None, deadline=None)
@given(PAYLOADS, INTS, INTS)
def test_a_payload_arrives_complete(payload: Payload, serial: int, hold: int) -> None:
    """Every field comes out of the tensor as it went in, and the rows are numbered."""
    tensor = encode(Head(serial, hold, payload))

    assert decode(tensor) == (serial, hold, payload)
    assert tensor.shape == (payload.rows, len(COLUMNS))
    assert tensor[:, -1].tolist() == list(range(payload.rows))


@pytest.mark.parametrize("record", [Send, Sent, Request])
def test_no_record_repeats_a_field_of_the_payload(record: Any) -> None:
    """A request's fields are written once: a record that embeds a payload has none of them itself."""
    assert {one.name for one in fields(record)} & {one.name for one in fields(Payload)} == set()
    assert "payload" in {one.name for one in fields(record)}


def test_the_work_of_a_batch_is_the_most_that_a_request_asks_for() -> None:
    """It counts for all rows of the batch. The gate of any request holds the batch, and one poisoned request fails it."""
    payloads = Payload(rows=2, work_ns=5, row_work_ns=10), Payload(rows=3, work_ns=40), Payload(fail=True)
    tensors = [encode(Head(serial, 7 * serial, payload)) for serial, payload in enumerate(payloads)]

    testimony = probe.Testimony(tensors, 0, 1, 100, 0)

    assert (testimony.work_ns, testimony.holds, testimony.failed) == (5 + 10 * 6, {7, 14}, True)
    assert testimony.entered == {"instance": 0, "batch": 1, "enter_ns": 100, "serials": [0, 1, 2], "rows": [2, 3, 1]}
    assert testimony.left(200) == {"instance": 0, "batch": 1, "exit_ns": 200, "failed": True}
    with pytest.raises(WitnessError, match="asked this batch to fail"):
        testimony.infos(200, tensors)


def test_a_batch_may_come_back_with_a_result_too_few() -> None:
    """Whoever asks for it, the result of the first request is missing, and the log says that the batch has failed."""
    tensors = [encode(Head(serial, 0, Payload(rows=rows, short=serial == 8))) for serial, rows in ((7, 2), (8, 1), (9, 3))]

    testimony = probe.Testimony(tensors, 0, 1, 0, 0)

    assert [info[:, INFO.index("serial")].tolist() for info in testimony.infos(5, tensors)] == [[8], [9, 9, 9]]
    assert testimony.left(5)["failed"]
    assert Payload(short=True).spoils
    assert Payload(fail=True).spoils
    assert not Payload().spoils


def test_a_sequence_keeps_all_of_its_results(tmp_path: Path) -> None:
    """A request of a sequence asks for a result too few in vain, because each place of the batch needs one."""
    witness = Witness(tmp_path)
    tensors = [Request(f"r{serial}", serial, Payload(short=True)).tensor() for serial in (1, 2)]

    answers = witness.execute_steps(tensors, [Place(slot, 1, 0, 1, slot + 5) for slot in range(2)])
    witness.close()

    assert [int(info[0, INFO.index("serial")]) for _, info, _ in answers] == [1, 2]


def test_a_result_too_few_is_missing_in_both() -> None:
    """The batcher sees that there are not enough, and refuses the whole batch; it serves what comes afterwards."""
    for target in (ReferenceTarget(), VirtualTarget()):
        deployed = full(target).deploy(BatcherConfig(max_batch_size=2))
        refused = [deployed.submit(Request("r0", 1, Payload(short=True))), deployed.submit(Request("r1", 2))]
        deployed.clock.wait(lambda sent=refused: all(one.done() for one in sent), deployed.clock.now_ns() + 5000 * MS)
        later = deployed.submit(Request("r2", 3))
        deployed.clock.wait(later.done, deployed.clock.now_ns() + 5000 * MS)
        said = str(refused[0].exception(timeout=0))
        served = later.exception(timeout=0) is None
        deployed.finish()

        assert "the model returned 0 rows for a batch of 1" in said or "the model returned 1 rows for a batch of 2" in said
        assert served


@pytest.mark.parametrize(
    ("columns", "given", "own"),
    [(0, None, True), (2, (1, 2), True), (2, None, False), (0, (1, 2), False), (2, (1, 3), False)],
)
def test_a_second_tensor_belongs_to_its_request(columns: int, given: tuple[int, int] | None, own: bool) -> None:
    """One that is missing, of another shape or of another request is named."""
    tensor = encode(Head(7, 0, Payload(extra=columns)))
    extra = None if given is None else np.full(given, 7, dtype=np.int64)
    testimony = probe.Testimony([tensor], 0, 1, 0, 0)

    if own:
        assert testimony.infos(5, [tensor], [extra])[0][0, INFO.index("exit_ns")] == 5
    else:
        with pytest.raises(WitnessError, match=r"requests \[7\]: the second tensor is not the one"):
            testimony.infos(5, [tensor], [extra])


def test_a_server_and_a_simulation_report_the_same() -> None:
    """They differ only in time: one function reports, whoever keeps the time."""
    config = BatcherConfig(max_batch_size=4)
    requests = [Request(f"r{i}", i, Payload(rows=i, work_ns=MS, nonce=99)) for i in (1, 2)]
    said = []
    for target in (ReferenceTarget(), VirtualTarget()):
        deployed = full(target).deploy(config)
        futures = [deployed.submit(request) for request in requests]
        deployed.clock.wait(lambda futures=futures: all(one.done() for one in futures), deployed.clock.now_ns() + 5000 * MS)
        answers = [one.result(timeout=0) for one in futures]
        assert deployed.log is not None
        lines = [{key: value for key, value in line.items() if not key.endswith("_ns")} for line in deployed.log()]
        said.append(([answer.echo.tolist() for answer in answers], [_timeless(answer.info) for answer in answers], lines))
        deployed.finish()

    assert said[0] == said[1]


def _timeless(info: Any) -> list[list[int]]:
    return np.delete(info, TIMES, axis=1).tolist()


def test_a_poisoned_batch_fails_in_both() -> None:
    """It is refused as failed."""
    for target in (ReferenceTarget(), VirtualTarget()):
        deployed = full(target).deploy(BatcherConfig())
        future = deployed.submit(Request("r0", 1, Payload(fail=True)))
        deployed.clock.wait(future.done, deployed.clock.now_ns() + 5000 * MS)
        with pytest.raises(Refused) as refused:
            future.result(timeout=0)
        deployed.finish()

        assert refused.value.kind is Kind.FAILED


def test_the_log_is_on_disk_before_the_answer_returns(tmp_path: Path) -> None:
    """Each execution writes two lines."""
    witness = Witness(tmp_path, 3)
    witness.execute([Request("r0", 1).tensor()])
    witness.close()

    assert len((tmp_path / "3.jsonl").read_text(encoding="ascii").splitlines()) == 2


NEW_FIELD = """
import sys
from importlib.util import module_from_spec, spec_from_file_location

name = "batchproof.targets.witness.probe"
spec = spec_from_file_location(name, sys.argv[1])
sys.modules[name] = module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])

from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.script import Send
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.virtual import VirtualTarget

case = Case(BatcherConfig(), (Send("r0", tokens=5),))
timeline = run_case(VirtualTarget(), Case.from_json(case.to_json()))
sent = Timeline.from_json(timeline.to_json())["r0"]
print(sent.payload.tokens, sent.answered_ns - sent.sent_ns, sent.echoed, "tokens=5" in case.python())
"""


def test_a_new_field_is_a_line_in_the_payload_and_a_line_in_the_witness(tmp_path: Path) -> None:
    """Scripts send a token budget, the witness acts on it, timelines and files keep it, and no other file knows of it."""
    source = Path(probe.__file__).read_text(encoding="utf-8")
    field = ("    nonce: int = 0\n", "    tokens: int = 0\n")
    for line, more in (field, ("payload.row_work_ns * rows", " + 7_000 * payload.tokens")):
        assert source.count(line) == 1
        source = source.replace(line, line + more)
    changed = tmp_path / "probe.py"
    changed.write_text(source, encoding="utf-8")

    testimony = subprocess.run([sys.executable, "-c", NEW_FIELD, str(changed)], capture_output=True, text=True, check=True)

    assert testimony.stdout.split() == ["5", "35000", "True", "True"]


def test_an_empty_batch_is_named(tmp_path: Path) -> None:
    """A stack that calls its model without a request is told so, and the log has that, but no execution."""
    witness = Witness(tmp_path)

    with pytest.raises(WitnessError, match="with an empty batch"):
        witness.execute([])
    witness.close()
    (line,) = map(json.loads, (tmp_path / "0.jsonl").read_text().splitlines())
    assert set(line) == {"instance", "batch", "empty_ns"}
