"""Every stranger of the first series: its fault, and the tracker that this was taken from; and all there are, by name.

The words were written before any verdict. The second series is in `histories.py`.
"""

from functools import partial

from batchproof.suites.selftest.strangers import collector, condition, loop, pool, scale, server
from batchproof.suites.selftest.strangers.crossed import CROSSED, RIGHT_CROSSED
from batchproof.suites.selftest.strangers.histories import FORTY, RIGHT_TOO
from batchproof.suites.selftest.strangers.inside import INSIDE, RIGHT_INSIDE
from batchproof.suites.selftest.strangers.mixtures import MIXTURES, RIGHT_IN_MIXTURES
from batchproof.suites.selftest.strangers.outlived import OUTLIVED, RIGHT_OUTLIVED
from batchproof.suites.selftest.strangers.promises import PROMISES, RIGHT_AS_PROMISED
from batchproof.suites.selftest.strangers.retiring import RETIRING, RIGHT_RETIRING
from batchproof.suites.selftest.strangers.states import STATES
from batchproof.suites.selftest.strangers.stranger import Stranger, faulty

ALSO = {  # what else these break: looked at one by one
    "one-permit-too-many": ("DB-FAIL-002",),  # the batch after the failed one shares its instance
    "ticker": ("DB-LAW-005",),  # a tick that finds the model busy is followed by one that comes too late
    "alone-after-pause": ("DB-DELAY-003",),  # whoever comes after it waits for another hour
    "looks-on-arrival": ("DB-DELAY-001", "DB-LAW-004", "DB-LAW-005"),  # whoever comes next takes it along, or nobody comes
    "swapped-when-together": ("DB-SCALE-005",),  # by chance: if two of its batches end at the same moment
    "accepts-after-stop": ("DB-LIVE-007",),  # what is on its way when it is closed comes after that
    "busy-when-burst": ("DB-LIMIT-009", "DB-SCALE-003"),  # bursts of twelve and of 32
    "settings-ignored": (
        "DB-SIZE-001", "DB-SIZE-002", "DB-DELAY-007", "DB-ORDER-001", "DB-LIVE-001", "DB-LIVE-003", "DB-LIMIT-001",
    ),  # batches of up to 32, after 5 s
}
_faulty = partial(faulty, ALSO)

RIGHT = (
    Stranger("right-condition", condition.ConditionBatcher),
    Stranger("right-loop", loop.LoopBatcher),
    Stranger("right-collector", collector.CollectorBatcher),
    Stranger("right-pool", pool.PoolBatcher),
    Stranger("right-server", server.Service),
)
FAULTY = (
    # Around one lock
    _faulty("lost-wakeup", condition.LostWakeup, "ray-project/ray/pull/42705",
            "what waits when an instance becomes free is served, without another request having to come", "DB-LIVE-002"),
    _faulty("last-overshoots", condition.LastOvershoots, "Xilinx/inference-server/issues/53",
            "no batch has more rows than the limit, whatever the sizes of its requests", "DB-SIZE-007"),
    _faulty("expires-when-free", condition.ExpiresWhenFree, "triton-inference-server/server/issues/7512",
            "a request that waited too long is refused when its time is over, and not when an instance becomes free",
            "DB-TIMEOUT-005"),
    _faulty("cancelled-keeps-place", condition.CancelledKeepsPlace, "ray-project/ray/pull/64348",
            "a cancelled request frees its place in a limited queue", "DB-CANCEL-005"),
    _faulty("newest-first-when-deep", condition.NewestFirstWhenDeep, "dotnet/aspnetcore/issues/29910",
            "requests enter the model in the order in which they came, however many wait", "DB-SCALE-002"),
    _faulty("idle-after-expiry", condition.IdleAfterExpiry, "triton-inference-server/server/issues/8870",
            "every instance takes work, also after requests have expired", "DB-SCALE-007"),
    _faulty("stale-tail", condition.StaleTail, "triton-inference-server/server/issues/2393",
            "each request gets its own result, also in a smaller batch after a full one", "DB-RESULT-001"),
    _faulty("time-adds-up", condition.TimeAddsUp, "SeldonIO/MLServer/issues/1936",
            "a batch that is not full stays open for the whole delay, however many requests arrive in it", "DB-DELAY-012"),
    _faulty("close-forgets", condition.CloseForgets, "tkowalcz/tjahzi/pull/182",
            "requests that were accepted are answered or refused when the batcher is closed", "DB-LIVE-004"),
    _faulty("limit-wears-off", condition.LimitWearsOff, "logstash-plugins/logstash-input-http/pull/73",
            "a limited queue refuses every request beyond its limit, also after the first refusal", "DB-LIMIT-001"),
    _faulty("two-instances-at-most", condition.TwoInstancesAtMost, "Lightning-AI/LitServe/issues/26",
            "every instance takes work, the third as well", "DB-LIVE-003"),
    _faulty("one-permit-too-many", condition.OnePermitTooMany, "elastic/elasticsearch/issues/14908",
            "an instance runs one batch at a time, also after a failure", "DB-SCALE-006"),
    _faulty("stops-after-hundreds", condition.StopsAfterHundreds, "ray-project/ray/issues/38249",
            "every request is answered, also the three hundredth", "DB-SCALE-003"),
    _faulty("oversize-blocks", condition.OversizeBlocks, "meta-pytorch/torchrec/pull/666",
            "a request larger than any batch is refused, and does not block others", "DB-SIZE-003"),
    _faulty("expired-still-runs", condition.ExpiredStillRuns, "Avarok-Cybersecurity/atlas/issues/482",
            "a request that was refused does not reach the model", "DB-TIMEOUT-002"),
    # On an event loop
    _faulty("rearmed-timer", loop.RearmedTimer, "async-graphql/async-graphql/pull/1376",
            "the delay counts from the oldest request, and newcomers do not restart it", "DB-DELAY-005"),
    _faulty("ticker", loop.Ticker, "uw-labs/substrate/pull/67",
            "a request that is not full waits for company for the whole delay, at whatever moment it comes", "DB-DELAY-001"),
    _faulty("alone-after-pause", loop.AloneAfterPause, "IBM/sarama/pull/389",
            "the first request after a pause waits for company like any other", "DB-DELAY-001"),
    _faulty("delay-after-model", loop.DelayAfterModel, "jina-ai/serve/issues/6072",
            "the time that a request spent behind a busy model counts towards its delay", "DB-DELAY-004"),
    _faulty("cancelled-shifts", loop.CancelledShifts, "ooples/AiDotNet/pull/1627",
            "each request gets its own result, also if another one of its batch was cancelled", "DB-CANCEL-004"),
    _faulty("cancelled-jams", loop.CancelledJams, "ray-project/ray/issues/50046",
            "a cancelled request does not keep others from being answered", "DB-CANCEL-001", "DB-CANCEL-004"),
    _faulty("permit-leaks", loop.PermitLeaks, "googleapis/gax-java/pull/567",
            "an instance whose batch failed takes the next one", "DB-FAIL-002"),
    _faulty("one-too-many", loop.OneTooMany, "Lightning-AI/LitServe/pull/23",
            "no batch has more requests than the limit", "DB-SIZE-001"),
    _faulty("accepts-after-stop", loop.AcceptsAfterStop, "hussein-awala/async-batcher/pull/9",
            "a request that comes after the batcher was closed is refused, and does not hang", "DB-LIVE-008"),
    _faulty("error-stays", loop.ErrorStays, "typedef-ai/fenic/pull/384",
            "a failed batch does not fail the next one", "DB-FAIL-002"),
    _faulty("looks-on-arrival", loop.LooksOnArrival, "urbanairship/datacube/issues/45",
            "a batch leaves when its delay is over, also if nobody else comes", "DB-DELAY-002"),
    _faulty("runs-twice", loop.RunsTwice, "BobTheBuidler/dank_mids/pull/488",
            "every request is executed once, also if its batch fails", "DB-LAW-001"),
    # A queue and a collector
    _faulty("window-rearmed", collector.WindowRearmed, "stanfordnlp/dspy/pull/10038",
            "the window counts from its first request, and newcomers do not restart it", "DB-DELAY-005"),
    _faulty("wipes-newcomers", collector.WipesNewcomers, "cortexlabs/cortex/pull/1915",
            "requests that come while the model runs are served afterwards", "DB-LIVE-002"),
    _faulty("worker-dies", collector.WorkerDies, "ray-project/ray/issues/66140",
            "an exception of the model does not end the service", "DB-FAIL-002"),
    _faulty("limit-without-effect", collector.LimitWithoutEffect, "apache/pulsar/pull/14353",
            "a limited queue refuses what comes beyond its limit", "DB-LIMIT-001"),
    _faulty("settings-ignored", collector.SettingsIgnored, "kserve/kserve/issues/1666",
            "the configured size and delay are in force", "DB-DELAY-002"),
    _faulty("first-gets-all", collector.FirstGetsAll, "SeldonIO/MLServer/issues/1306",
            "each request gets its own result, whatever the size of its batch", "DB-RESULT-001", "DB-RESULT-003"),
    _faulty("capped-batch", collector.CappedBatch, "pytorch/serve/issues/623",
            "a backlog leaves in full batches, also of 16 or more", "DB-SCALE-001"),
    _faulty("takes-all-when-deep", collector.TakesAllWhenDeep, "FooBarWidget/work_batcher/issues/1",
            "no batch has more requests than the limit, however many wait", "DB-SIZE-001"),
    _faulty("tenth-answer-stale", collector.TenthAnswerStale, "inferencerlabs/inferencer-feedback/issues/127",
            "each request gets its own result, the tenth of an instance as well", "DB-RESULT-001"),
    # A pool with a queue for each worker
    _faulty("dead-worker-chosen", pool.DeadWorkerChosen, "huggingface/transformers/pull/48301",
            "an exception of the model does not end the service", "DB-FAIL-002"),
    _faulty("third-shifts", pool.ThirdShifts, "torch-spyre/sendnn-inference/pull/33",
            "each request gets its own result, from the third instance as well", "DB-SCALE-005"),
    _faulty("shifts-after-error", pool.ShiftsAfterError, "Agash/ObsWebSocket/issues/16",
            "each request gets its own result, also after a batch that failed", "DB-LAW-003"),
    _faulty("retries-elsewhere", pool.RetriesElsewhere, "microsoft/CCF/issues/617",
            "every request is executed once, however long it takes", "DB-SCALE-004"),
    # A server of its own
    _faulty("disconnect-ignored", server.DisconnectIgnored, "ray-project/ray/issues/41057",
            "a request that is cancelled while it waits does not reach the model", "DB-CANCEL-001"),
    _faulty("busy-when-burst", server.BusyWhenBurst, "bentoml/BentoML/issues/3200",
            "a burst is served where no limit is configured", "DB-LAW-004"),
    _faulty("timeout-while-running", server.TimeoutWhileRunning, "Lightning-AI/LitServe/pull/63",
            "the queue timeout does not end what is in the model already", "DB-TIMEOUT-013"),
    # Scale: in all styles
    _faulty("slots-leak", scale.SlotsLeak, "vitessio/vitess/pull/2599",
            "hundreds of cancelled requests do not use the batcher up", "DB-CANCEL-010"),
    _faulty("rescans-queue", scale.RescansQueue, "vllm-project/vllm-omni/pull/1613",
            "a request costs as much in a queue of thousands as in a queue of ten"),
    _faulty("small-ones-first", scale.SmallOnesFirst, "ngageoint/scale/issues/172",
            "a large request is served in its turn, also while small ones keep coming", "DB-ORDER-007"),
    _faulty("thousandth-not-woken", scale.ThousandthNotWoken, "ChilliCream/graphql-platform/issues/10051",
            "each of thousands of lone requests is answered, without another one having to come", "DB-SCALE-008"),
    _faulty("timeouts-keep-places", scale.TimeoutsKeepPlaces, "scylladb/java-driver/issues/1013",
            "a request that waited too long frees its place in a limited queue", "DB-LIMIT-010"),
    _faulty("numbers-wrap", scale.NumbersWrap, "bloomberg/blazingmq/pull/1715",
            "each request gets its own result, also with thousands of them inside", "DB-SCALE-009"),
    _faulty("timer-dies", scale.TimerDies, "camunda/camunda/issues/3003",
            "a batch leaves when its delay is over, also after a batch that failed", "DB-DELAY-013"),
    _faulty("waiters-fill-pool", scale.WaitersFillPool, "samply/blaze/issues/2584",
            "thousands of requests that wait at once do not stop the model", "DB-SCALE-009"),
    _faulty("bytes-dropped", scale.BytesDropped, "open-telemetry/opentelemetry-collector/pull/14589",
            "a full batch of a hundred requests answers them all, whatever their bytes", "DB-SCALE-009"),
    _faulty("lock-over-model", scale.LockOverModel, "elastic/elasticsearch/pull/80074",
            "instances execute at the same time", "DB-LIVE-003"),
    _faulty("swapped-when-together", scale.SwappedWhenTogether, "ruxailab/eye-tracker-api/pull/84",
            "each request gets its own result, also when two batches end at the same moment"),
    _faulty("futures-kept", server.FuturesKept, "apache/rocketmq-a2a/issues/40",
            "the memory of a batcher does not grow with the requests that it has answered or refused"),
)
STRANGERS = {stranger.name: stranger for stranger in (
    *RIGHT, *FAULTY, *RIGHT_TOO, *FORTY, *STATES, *RIGHT_AS_PROMISED, *PROMISES, *RIGHT_CROSSED, *CROSSED,
    *RIGHT_IN_MIXTURES, *MIXTURES, *RIGHT_INSIDE, *INSIDE, *RIGHT_OUTLIVED, *OUTLIVED,
    *RIGHT_RETIRING, *RETIRING,
)}  # fmt: skip
