"""The fifth series of strangers: batchers that promise something of their own, and keep it or not.

Batches of certain sizes only, an end for what was accepted before the batcher was closed, a second try for each request of a
failed batch. Each class is `ConditionBatcher` with one thing different, which its docstring says;
docs/results/strangers-5.md has the exam.
"""

from concurrent.futures import Future, InvalidStateError, wait
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import accumulate

from batchproof.suites.selftest.strangers.condition import ConditionBatcher, Job, Model
from batchproof.suites.selftest.strangers.errors import Stopped
from batchproof.suites.selftest.strangers.stranger import Stranger, faulty


class PowersOfTwo(ConditionBatcher):
    """Takes the largest power of two that waits, or a full batch; the rest is the next batch."""

    taken = 0

    def take(self) -> list[Job]:
        self.taken += 1
        head, self.head = self.head(), lambda: self.cut(head)  # type: ignore[method-assign]
        try:
            return super().take()
        finally:
            del self.head

    def cut(self, head: list[Job]) -> list[Job]:
        counts = [count for count, rows in enumerate(accumulate(job.rows for job in head), 1) if self.allowed(rows)]
        return head[: counts[-1]] if counts else head

    def allowed(self, rows: int) -> bool:
        return rows == self.max_rows or rows & (rows - 1) == 0


class ForgetsSizes(PowersOfTwo):
    """From the twentieth batch on it takes all who wait, however many they are."""

    def cut(self, head: list[Job]) -> list[Job]:
        return head if self.taken > 20 else super().cut(head)


class SkipsASize(PowersOfTwo):
    """Takes one where two or three wait."""

    def allowed(self, rows: int) -> bool:
        return rows != 2 and super().allowed(rows)


class RefusesTheQueue(ConditionBatcher):
    """When it is closed, what is in the model is answered, and what waits is refused."""

    def close(self) -> None:
        with self.changed:
            while self.waiting:
                self.waiting.popleft().future.set_exception(Stopped("the batcher is closed"))
        super().close()


class DropsTheQueue(ConditionBatcher):
    """When it is closed, what waits is thrown away, and nobody is told."""

    def close(self) -> None:
        with self.changed:
            self.waiting.clear()
        super().close()


class RefusesWhatRuns(ConditionBatcher):
    """When it is closed, what is in the model is refused, although it is nearly done."""

    def __init__(self, *args: object) -> None:
        self.running: list[Job] = []
        super().__init__(*args)  # type: ignore[arg-type]

    def run(self, model: Model, batch: list[Job]) -> None:
        self.running = batch
        with suppress(InvalidStateError):
            super().run(model, batch)

    def close(self) -> None:
        for job in self.running:
            if not job.future.done():
                job.future.set_exception(Stopped("the batcher is closed"))
        super().close()


class TriesAgain(ConditionBatcher):
    """Executes each request of a failed batch once more, alone."""

    def run(self, model: Model, batch: list[Job]) -> None:
        try:
            outputs = model([job.item for job in batch])
        except Exception:  # noqa: BLE001
            for job in batch:
                self.again(model, job)
            return
        for job, output in zip(batch, outputs, strict=True):
            job.future.set_result(output)

    def again(self, model: Model, job: Job) -> None:
        super().run(model, [job])


class TriesTheFirstAgain(TriesAgain):
    """Those of a failed batch that come after the one that fails again are not tried."""

    failed: BaseException | None = None

    def run(self, model: Model, batch: list[Job]) -> None:
        self.failed = None
        super().run(model, batch)

    def again(self, model: Model, job: Job) -> None:
        if self.failed is not None:
            job.future.set_exception(self.failed)
            return
        super().again(model, job)
        self.failed = job.future.exception()


class AnswersFirst(ConditionBatcher):
    """When it is closed, all that it has accepted is answered, and then closing ends."""

    def __init__(self, *args: object) -> None:
        self.owed: list[Future[object]] = []
        super().__init__(*args)  # type: ignore[arg-type]

    def arrived(self, job: Job) -> None:
        self.owed.append(job.future)

    def close(self) -> None:
        super().close()
        wait(self.owed)


POWERS = {"batch_sizes": "powers-of-two"}
ANSWERS, REFUSES, DROPS = {"closing": "answers"}, {"closing": "refuses"}, {"closing": "drops"}
SETTLED = {**ANSWERS, "closing_ends": "settled"}
RETRIED = {"failed_batch": "retried"}
RIGHT_AS_PROMISED = (
    Stranger("right-powers", PowersOfTwo, claims=POWERS),
    Stranger("right-answers-all", ConditionBatcher, claims=ANSWERS),
    Stranger("right-answers-first", AnswersFirst, claims=SETTLED),
    Stranger("right-refuses-queue", RefusesTheQueue, claims=REFUSES),
    Stranger("right-drops-queue", DropsTheQueue, claims=DROPS),
    Stranger("right-tries-again", TriesAgain, claims=RETRIED),
)
ALSO = {"refuses-what-runs": ("DB-LIVE-007", "DB-LIVE-010"), "refuses-queue": ("DB-LIVE-010",),
        "serves-queue": ("DB-LIVE-010",), "ends-at-once": ("DB-LIVE-007", "DB-LIVE-010")}  # fmt: skip
_faulty = partial(faulty, ALSO)
PROMISES = (
    replace(_faulty("forgets-sizes", ForgetsSizes, "tensorflow/model-analysis/issues/53",
                    "a batch has one of the sizes that there are, also after many batches", "DB-LAW-009"), claims=POWERS),
    replace(_faulty("skips-a-size", SkipsASize, "tensorflow/serving/issues/1529",
                    "a batch has the largest of the sizes that the queue fills", "DB-DELAY-006"), claims=POWERS),
    replace(_faulty("refuses-queue", RefusesTheQueue, "dazzleduck-web/dazzleduck-sql-server/pull/357",
                    "what was accepted is answered when the batcher is closed", "DB-LIVE-004"), claims=ANSWERS),
    replace(_faulty("refuses-what-runs", RefusesWhatRuns, "aws/aws-sdk-java-v2/pull/7301",
                    "what is in the model is answered when the batcher is closed", "DB-LIVE-004"), claims=REFUSES),
    replace(_faulty("serves-queue", ConditionBatcher, "shini4i/argo-watcher/pull/518",
                    "what waits is refused when the batcher is closed", "DB-LIVE-004"), claims=REFUSES),
    replace(_faulty("ends-at-once", ConditionBatcher, "googleapis/nodejs-pubsub/issues/1620",
                    "closing ends when what was accepted is answered", "DB-LIVE-004"), claims=SETTLED),
    replace(_faulty("tries-first-again", TriesTheFirstAgain, "dtinit/data-transfer-project/issues/836",
                    "each request of a failed batch is tried again, alone", "DB-FAIL-001"), claims=RETRIED),
)  # fmt: skip
