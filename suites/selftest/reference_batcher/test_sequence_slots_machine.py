"""A batcher of sequences as a machine: whatever is done to it, it does what the model of slots says, and keeps the laws."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from batchproof.fixtures.driving.script import MS
from batchproof.fixtures.driving.under_load import timeline_of
from batchproof.fixtures.judging.checkers.sequence.law import LAWS
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.reference_batcher import BatcherConfig, SequenceBatching, StateSpec
from batchproof.suites.selftest.reference_batcher.slot_model import SlotModel
from batchproof.targets.protocol import Request, Response
from batchproof.targets.verbs import FullDeployment
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness.probe import Payload

STATE = (StateSpec("STATE", "STATE_AFTER", "TYPE_INT64", (1,)),)
IDS = st.integers(1, 5)
WORK = st.sampled_from((0, 1, 4))
CONFIGS = st.builds(
    lambda size, instances, delay, preferred, **asked: BatcherConfig(
        max_batch_size=size,
        instances=instances,
        max_queue_delay_ns=delay * MS,
        preferred_batch_size=(1,) if preferred and asked["strategy"] == "oldest" else (),
        sequence=SequenceBatching(**asked),
    ),
    size=st.integers(1, 3),
    instances=st.integers(1, 2),
    delay=st.sampled_from((0, 3)),
    preferred=st.booleans(),
    strategy=st.sampled_from(("direct", "oldest")),
    max_sequence_idle_ns=st.sampled_from((9 * MS, 1000 * MS)),
    minimum_slot_utilization=st.sampled_from((0.0, 0.7)),
    max_candidate_sequences=st.integers(0, 3),
    state=st.sampled_from(((), STATE)),
)


@dataclass
class Sent:
    """One request that the machine has sent."""

    request: Request
    sent_ns: int
    future: Future[Response]
    answered_ns: int | None = None
    accepted_ns: int | None = None


class Sequences(RuleBasedStateMachine):
    """Begins, continues, ends, cancels and waits. Each thing happens at a moment of its own."""

    @initialize(config=CONFIGS)
    def deploy(self, config: BatcherConfig) -> None:
        """Deploy anything."""
        assert config.sequence is not None
        self.config = config
        self.deployment = FullDeployment(VirtualTarget().deploy(config))
        self.clock: Any = self.deployment.clock
        self.model = SlotModel(config.sequence, config.max_batch_size, config.instances)
        self.sent: list[Sent] = []
        self.lines: list[dict[str, Any]] = []
        self.marks: dict[str, int] = {}
        self.tick = 0

    @rule(id_=IDS, end=st.booleans(), work=WORK)
    def begin(self, id_: int, end: bool, work: int) -> None:
        """A sequence begins, also under the ID of one that is still open."""
        self._send(sequence=id_, start=True, end=end, work_ns=work * MS)

    @rule(id_=IDS, end=st.booleans(), work=WORK, fail=st.booleans())
    def go_on(self, id_: int, end: bool, work: int, fail: bool) -> None:
        """A sequence goes on, if there is one under this ID."""
        self._send(sequence=id_, end=end, work_ns=work * MS, fail=fail and work == 1)

    @rule(rows=st.sampled_from((1, 2)))
    def send_nonsense(self, rows: int) -> None:
        """A request has no ID, or two rows."""
        self._send(sequence=rows - 1, start=True, rows=rows)

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def take_back(self, data: st.DataObject) -> None:
        """A request is taken back, at whatever point it is."""
        name = data.draw(st.sampled_from([one.request.name for one in self.sent]))
        if f"cancel:{name}" in self.marks:
            return
        self._pass(0)
        mine = next(one for one in self.sent if one.request.name == name)
        self.marks[f"cancel:{name}"] = self.clock.now_ns()
        self.model.taken_back(self.clock.now_ns(), mine.request.serial)
        assert self.deployment.cancel is not None
        self.deployment.cancel(mine.future)
        self._hear()

    @rule(ms=st.sampled_from((1, 5, 20)))
    def wait(self, ms: int) -> None:
        """Time passes."""
        self._pass(ms * MS)

    @invariant()
    def as_many_wait(self) -> None:
        """As many requests wait as the model says, and nothing ran where it should not have."""
        if hasattr(self, "model"):
            assert self.deployment.queued is not None
            assert (self.model.wrong, self.deployment.queued()) == ([], self.model.waiting)

    def teardown(self) -> None:
        """Let everything end: every request has the fate that the model says, and all laws hold."""
        if not getattr(self, "sent", None):
            return
        self._pass(10_000 * MS)
        timeline = timeline_of(self.sent, replace_log(self.deployment, self.lines), self.config.facts())
        timeline = replace(timeline, marks={**timeline.marks, **self.marks})
        kinds = {kind: {one.serial for one in timeline.requests if one.kind == kind} for kind in ("invalid", "cancelled")}
        assert kinds == {"invalid": self.model.refused, "cancelled": self.model.cancelled}
        assert [j.actual for law in LAWS if (j := law(timeline)).verdict is not Verdict.PASS] == []

    def _send(self, **asked: Any) -> None:
        self._pass(0)
        number = len(self.sent)
        work_ns = asked.pop("work_ns", 0) + 1 + number * 7919 % 50_000
        request = Request(f"r{number}", number + 1, Payload(work_ns=work_ns, nonce=number + 1, **asked))
        now_ns = self.clock.now_ns()
        self.model.arrives(now_ns, request.serial, request.payload)
        one = Sent(request, now_ns, self.deployment.submit(request), accepted_ns=now_ns)
        one.future.add_done_callback(lambda _: setattr(one, "answered_ns", self.clock.now_ns()))
        self.sent.append(one)
        self._hear()

    def _pass(self, ns: int) -> None:
        """Let time pass, and a little more, so that nothing else happens at the moment of what comes next."""
        self.tick += 1
        self.clock.sleep_until_ns(self.clock.now_ns() + ns + 100_003 + self.tick)
        self._hear()

    def _hear(self) -> None:
        """Tell the model what has entered and left the target's model."""
        assert self.deployment.log is not None
        for line in self.deployment.log():
            self.lines.append(line)
            if "serials" in line:
                self.running = getattr(self, "running", {})
                self.running[line["instance"], line["batch"]] = line["serials"]
                slots = [place[0] for place in line["places"]]
                self.model.enters(line["enter_ns"], line["instance"], line["serials"], slots)
            else:
                self.model.leaves(line["exit_ns"], self.running.pop((line["instance"], line["batch"])))


def replace_log(deployment: FullDeployment, lines: list[dict[str, Any]]) -> FullDeployment:
    """Return the deployment with a log that still has all its lines."""
    deployment.log = lambda: lines
    return deployment


Sequences.TestCase.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
TestSequences = Sequences.TestCase
