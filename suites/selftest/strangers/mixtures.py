"""The eighth series of strangers: queues by shape, stealing, policies by level, and one for Node.

What their faults break shows with a history, at scale, or where several features meet. The words were written before any
verdict; docs/results/strangers-8.md has the exam.
"""

from functools import partial

from batchproof.suites.selftest.strangers import fairshare_faults, flush, policies_faults, stealing_faults
from batchproof.suites.selftest.strangers.fairshare import FairShare
from batchproof.suites.selftest.strangers.policies import Policies
from batchproof.suites.selftest.strangers.stealing import Stealing
from batchproof.suites.selftest.strangers.stranger import Stranger, faulty

RIGHT_IN_MIXTURES = (
    Stranger("right-fairshare", FairShare),
    Stranger("right-stealing", Stealing),
    Stranger("right-policies", Policies),
    Stranger("right-flush", flush.Flush),
)
ALSO = {  # what else these break: looked at one by one
    "keeps-places": ("DB-LIMIT-010", "DB-LIMIT-012", "DB-LIMIT-013"),  # it keeps those of expired requests, too
    "never-rested": ("DB-DELAY-005", "DB-DELAY-016"),  # a nap that lasts longer than what is left of the delay
    "wraps-around": ("DB-DELAY-014", "DB-SCALE-009"),  # the lone request after 2,048
    "restarted": ("DB-LAW-006", "DB-LAW-009"),
    "taken-twice": ("DB-LAW-001", "DB-LAW-009", "DB-SCALE-006", "DB-SCALE-007", "DB-SCALE-010", "DB-SCALE-014"),
    "latched": ("DB-LIMIT-012", "DB-LIMIT-013"),
    "reaper-reset": ("DB-TIMEOUT-009",),  # a shorter timeout than that of the one before
}
_faulty = partial(faulty, ALSO)
MIXTURES = (
    # A lane for each shape, and a cache
    _faulty("one-lane-first", fairshare_faults.OneLaneFirst, "NetSys/bess/issues/772",
            "a request of one shape is served within a few batches, however many of another shape keep coming",
            "DB-LAW-009"),
    _faulty("short-key", fairshare_faults.ShortKey, "HKUDS/LightRAG/pull/3435",
            "an answer from the cache belongs to equal inputs, however many different inputs there have been",
            "DB-CACHE-002"),
    _faulty("remembers-failure", fairshare_faults.RemembersFailure, "CleverCloud/clever-client.js/issues/226",
            "a request whose equal failed before is executed", "DB-CACHE-003"),
    _faulty("leader-takes-all", fairshare_faults.LeaderTakesAll, "joshuaswarren/remnic/pull/2015",
            "cancelling a request ends no other request, not even one with equal inputs", "DB-CACHE-008"),
    _faulty("disarmed", fairshare_faults.Disarmed, "python/cpython/issues/112202",
            "if the oldest request is cancelled, those behind it still leave when their delay is over", "DB-CANCEL-011"),
    _faulty("keeps-places", fairshare_faults.KeepsPlaces, "mdbase-dev/mdbase-connect/pull/396",
            "a cancelled request gives its place in the queue back at once", "DB-CANCEL-005"),
    _faulty("counts-twice", fairshare_faults.CountsTwice, "redisson/redisson/pull/7206",
            "no more requests wait than the limit says, also after some have expired", "DB-LIMIT-012"),
    _faulty("never-forgotten", fairshare_faults.NeverForgotten, "hussein-awala/async-batcher/pull/45",
            "closing ends, also after a request was cancelled while it was in the model", "DB-LIVE-011"),
    # Rings that are robbed
    _faulty("grows-wrong", stealing_faults.GrowsWrong, "crossbeam-rs/crossbeam/pull/726",
            "requests of one queue are served in their order, however many wait", "DB-SCALE-002"),
    _faulty("never-rested", stealing_faults.NeverRested, "coleifer/huey/issues/38",
            "a request that finds an idle batcher is served at once, also after the batcher has been idle for long",
            "DB-DELAY-007"),
    _faulty("dies-of-cancel", stealing_faults.DiesOfCancel, "vllm-project/vllm-omni/pull/5983",
            "cancelling a request that runs does not end its instance", "DB-CANCEL-004"),
    _faulty("restarted", stealing_faults.Restarted, "jetty/jetty.project/issues/6254",
            "the timeout and the delay count from when a request was queued, also with several instances",
            "DB-LAW-005"),
    _faulty("wraps-around", stealing_faults.WrapsAround, "cloudius-systems/osv/issues/225",
            "the 2,048th request of a deployment is answered like the first", "DB-SCALE-008"),
    _faulty("taken-twice", stealing_faults.TakenTwice, "charmplusplus/charm/issues/1345",
            "each request is executed once", "DB-LIVE-003"),  # the second time takes an instance; DB-LAW-009 counts it
    _faulty("lets-one-more-in", stealing_faults.OneMore, "ArduPilot/ardupilot/pull/6713",
            "no more requests wait than the limit says", "DB-LIMIT-001"),
    # Levels with policies, and order
    _faulty("slot-at-completion", policies_faults.SlotAtCompletion, "triton-inference-server/core/pull/520",
            "with preserved order, answers come in the order in which batches were formed", "DB-ORDER-003"),
    _faulty("failure-breaks-order", policies_faults.FailureBreaksOrder, "chrisdinn/brando/issues/69",
            "the order of answers is kept also when a batch fails", "DB-ORDER-004"),
    _faulty("drift", policies_faults.Drift, "triton-inference-server/server/issues/8870",
            "all instances go on serving, also after an expiry beside a cancellation", "DB-SCALE-014"),
    _faulty("late-keeps-place", policies_faults.LateKeepsPlace, "http4s/http4s/issues/2962",
            "a request that has been served counts in the queue limit no longer, also if it was late", "DB-LIMIT-014"),
    _faulty("last-level-alone", policies_faults.LastLevelAlone, "triton-inference-server/server/pull/1109",
            "a batch with room takes in requests of lower levels, the last one included", "DB-PRIO-005"),
    _faulty("cancel-is-expiry", policies_faults.CancelIsExpiry, "elastic/elasticsearch/pull/112233",
            "a cancelled request is counted as cancelled, and not as expired", "DB-CANCEL-007"),
    _faulty("default-is-less", policies_faults.DefaultIsLess, "ChilliCream/graphql-platform/issues/6865",
            "by default a batch holds as many requests as the documentation says", "DB-DEFAULT-004"),
    _faulty("reaper-reset", policies_faults.ReaperReset, "jetty/jetty.project/pull/6257",
            "a late request is refused when its timeout is over, however many newer ones come",
            "DB-TIMEOUT-016"),
    _faulty("latched", policies_faults.Latched, "sgl-project/sglang/issues/33858",
            "a queue that was full takes requests as soon as there is room, also if those in it expired or were cancelled",
            "DB-LIMIT-010"),
    # For Node
    _faulty("old-timer", flush.StaleTimer, "apache/flink/pull/27356",
            "the delay of each batch counts from its own oldest request", "DB-DELAY-012"),
    _faulty("instance-freed-twice", flush.FreedTwice, "inventaire/inventaire/pull/330",
            "no more batches run at once than there are instances, also after a failure", "DB-SCALE-006"),
    _faulty("results-uncounted", flush.Uncounted, "stanfordnlp/dspy/issues/10313",
            "if the model returns too few results, nobody gets another's, and nobody waits for ever", "DB-RESULT-005"),
)  # fmt: skip
