"""The second series of strangers: faults that most often need a history, a depth or a mixture of requests to show.

The batchers, the words of their faults and the threads were written before the rules were read, and before any verdict.
"""

from functools import partial

from batchproof.suites.selftest.strangers import deadlines, piped, pipeline, ring, timers, turnstile
from batchproof.suites.selftest.strangers.stranger import Stranger, faulty

ALSO = {  # what else these break: looked at one by one
    "refusal-leaves-hole": ("DB-CANCEL-005", "DB-LAW-004"),  # whoever comes behind the hole is never served
    "answer-by-slot": ("DB-LIMIT-003", "DB-LIMIT-004", "DB-LAW-001", "DB-LAW-004"),  # who had the slot before gets no answer
    "replies-in-turn": ("DB-SCALE-005",),  # in some runs: where a later batch is done before an earlier one
}
_faulty = partial(faulty, ALSO)

RIGHT_TOO = (
    Stranger("right-deadlines", deadlines.DeadlineBatcher),
    Stranger("right-ring", ring.RingBatcher),
    Stranger("right-pipeline", pipeline.PipelineBatcher),
    Stranger("right-piped", piped.PipedBatcher),
    Stranger("right-timers", timers.TimerBatcher),
    Stranger("right-turnstile", turnstile.TurnstileBatcher),
)
FORTY = (
    # A heap of deadlines
    _faulty("ties-unordered", deadlines.TiesUnordered, "dotnet/runtime/issues/58432",
            "requests of one priority are served in the order in which they came", "DB-ORDER-001", "DB-PRIO-002"),
    _faulty("hole-in-heap", deadlines.HoleInHeap, "ziglang/zig/pull/11731",
            "requests are served in order, also after one of them was cancelled", "DB-PRIO-010"),
    _faulty("hidden-by-cancelled", deadlines.HiddenByCancelled, "ros2/rclcpp/pull/2375",
            "a request is served when its delay is over, also if the one before it was cancelled",
            "DB-CANCEL-009", "DB-CANCEL-011"),
    _faulty("expiry-at-the-top", deadlines.ExpiryAtTheTop, "rabbitmq/rabbitmq-server/issues/1449",
            "a request that waited too long is refused when its time is over, whatever priority others have",
            "DB-TIMEOUT-009", "DB-TIMEOUT-014"),
    _faulty("numbers-go-round", deadlines.NumbersGoRound, "stephen/nodetunes/issues/2",
            "requests are served in the order in which they came, also the 257th", "DB-SCALE-002"),
    _faulty("newcomer-resets-expiry", deadlines.NewcomerResetsExpiry, "jetty/jetty.project/issues/6254",
            "a request that waited too long is refused when its time is over, also if others come after it",
            "DB-TIMEOUT-009", "DB-TIMEOUT-014"),
    _faulty("sooner-unnoticed", deadlines.SoonerUnnoticed, "tokio-rs/tokio/pull/863",
            "a request with a shorter timeout is refused when that is over, also behind one with a longer timeout",
            "DB-TIMEOUT-009", "DB-TIMEOUT-014"),
    _faulty("fills-the-gaps", deadlines.FillsTheGaps, "vllm-project/vllm/pull/33522",
            "requests are served in the order in which they came, whatever sizes they have", "DB-ORDER-007"),
    # A ring buffer
    _faulty("one-slot-short", ring.OneSlotShort, "contiki-ng/contiki-ng/issues/1532",
            "as many requests may wait as the limit says", "DB-LIMIT-003"),
    _faulty("full-is-empty", ring.FullIsEmpty, "OpenVizslaTNG/ov_ftdi/pull/21",
            "every request that was accepted is answered, also if the queue was full", "DB-LIMIT-003"),
    _faulty("seam-repeats", ring.SeamRepeats, "alvingawai/tracks-live/issues/21",
            "each request gets its own result, also where the buffer begins again", "DB-LAW-003"),
    _faulty("cancelled-fill", ring.CancelledFill, "redisson/redisson/pull/7206",
            "a cancelled request takes no room, neither in a batch nor in a limited queue",
            "DB-CANCEL-003", "DB-CANCEL-005"),
    _faulty("refusal-leaves-hole", ring.RefusalLeavesHole, "sofastack/sofa-tracer/pull/348",
            "requests are served, also after another one was refused", "DB-LIMIT-004"),
    _faulty("answer-by-slot", ring.AnswerBySlot, "thomhurst/Dekaf/issues/890",
            "each request gets its own result, whoever came while the model ran", "DB-LAW-003"),
    _faulty("only-first-wakes", ring.OnlyFirstWakes, "nuetzliches/hookaido/pull/264",
            "a full batch leaves at once, and no instance rests while requests wait that are due", "DB-DELAY-003"),
    # A pipeline
    _faulty("carry-lost-at-close", pipeline.CarryLostAtClose, "AztecProtocol/aztec-packages/pull/22296",
            "every request that was accepted is answered or refused when the batcher is closed, whatever sizes they have",
            "DB-LIVE-010"),
    _faulty("carry-waits", pipeline.CarryWaits, "highlight/highlight/pull/7326",
            "a request is served when its delay is over, also one that did not fit into the batch before",
            "DB-DELAY-015"),
    _faulty("carry-to-the-back", pipeline.CarryToTheBack, "akira/exq/pull/424",
            "requests are served in the order in which they came, also one that did not fit into the batch before",
            "DB-ORDER-007"),
    _faulty("replies-in-turn", pipeline.RepliesInTurn, "dcc-mcp/dcc-mcp-core/issues/2417",
            "each request gets its own result, whichever instance is done first", "DB-ORDER-005", "DB-LAW-003"),
    _faulty("rest-dropped", pipeline.RestDropped, "apache/dubbo/pull/16470",
            "a request is answered, also if another one of its batch was cancelled in the model", "DB-CANCEL-004"),
    _faulty("breaker-opens", pipeline.BreakerOpens, "sgl-project/sglang/issues/25811",
            "failed batches do not fail the requests that come after them, however many they were", "DB-SCALE-006"),
    # Models in processes of their own
    _faulty("late-answer", piped.LateAnswer, "quern-dev/quern/pull/69",
            "each request gets its own result, also if all requests of the batch before were cancelled in the model",
            "DB-CANCEL-012"),
    _faulty("line-too-long", piped.LineTooLong, "FAForever/server/issues/939",
            "a batch does not fail because it is large"),
    _faulty("model-prints", piped.ModelPrints, "glslang/windbg-mcp/issues/65",
            "a failed batch is told so, and does not end the service", "DB-FAIL-001", "DB-FAIL-002"),
    _faulty("killed-at-close", piped.KilledAtClose, "Particular/NServiceBus.SqlServer/issues/33",
            "what is in the model when the batcher is closed is answered", "DB-LIVE-004"),
    _faulty("round-robin", piped.RoundRobin, "Eventual-Inc/Daft/issues/5537",
            "no request waits for a busy instance while another one is free", "DB-LAW-009"),
    _faulty("only-first-told", piped.OnlyFirstTold, "deeplearning4j/deeplearning4j/pull/4581",
            "every request of a batch that failed is told so", "DB-FAIL-001"),
    # Timers on an event loop
    _faulty("head-cancel-stops-timer", timers.HeadCancelStopsTimer, "microsoft/libHttpClient/issues/945",
            "a request is served when its delay is over, also if the one before it was cancelled", "DB-CANCEL-011"),
    _faulty("rest-waits-twice", timers.RestWaitsTwice, "open-telemetry/opentelemetry-collector/pull/12752",
            "the delay counts from when a request came, also for those that a full batch left behind", "DB-DELAY-004"),
    _faulty("stale-timer", timers.StaleTimer, "open-telemetry/otel-arrow/pull/2763",
            "a request waits for company for the whole delay, also after a full batch", "DB-DELAY-014"),
    _faulty("one-cancels-all", timers.OneCancelsAll, "BobTheBuidler/dank_mids/pull/953",
            "a request is answered, also if another one of its batch was cancelled in the model", "DB-CANCEL-004"),
    _faulty("expired-untold", timers.ExpiredUntold, "apache/pinot/pull/19167",
            "a request that waited too long is told so", "DB-TIMEOUT-001"),
    _faulty("limit-drifts", timers.LimitDrifts, "AsyncHttpClient/async-http-client/pull/2280",
            "no more requests wait than the limit says, also after requests were cancelled in the model",
            "DB-LIMIT-011"),
    # Tickets and semaphores
    _faulty("abandoned-ticket", turnstile.AbandonedTicket, "embassy-rs/embassy/pull/6964",
            "requests are served, also if the one before them was cancelled", "DB-CANCEL-010"),
    _faulty("barging", turnstile.Barging, "python/cpython/pull/93222",
            "requests are served in the order in which they came, also while a batch is open", "DB-ORDER-001"),
    _faulty("signals-coalesce", turnstile.SignalsCoalesce, "influxdata/telegraf/pull/8953",
            "a backlog is served, however deep, without another request having to come", "DB-LIVE-002"),
    _faulty("cancelled-frees-model", turnstile.CancelledFreesModel, "devinus/poolboy/issues/56",
            "an instance runs one batch at a time, also if a request was cancelled in it",
            "DB-SCALE-010"),
    _faulty("wait-balloons", turnstile.WaitBalloons, "bentoml/BentoML/pull/3664",
            "no request waits for longer than the delay if an instance is free, however long the batch before took",
            "DB-DELAY-014"),
    _faulty("timer-flag-stays", turnstile.TimerFlagStays, "shaunpersad/throttled-queue/pull/4",
            "a request is served when its delay is over, also after a full batch", "DB-DELAY-014"),
    _faulty("exit-stays-shut", turnstile.ExitStaysShut, "uber/submitqueue/pull/590",
            "a failed batch does not keep later ones from being answered", "DB-FAIL-002"),
)
