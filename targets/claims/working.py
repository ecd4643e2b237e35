"""The claims about how a stack is meant to work: whose a value is, what it counts, and what a batch does."""

from __future__ import annotations

from batchproof.targets.claims.claim import YES_OR_NO, Claim

WORKING = (
    Claim("delay", "A queue delay can be set.", "a queue delay"),
    Claim(
        "delay_anchor",
        "The queue delay counts from when the oldest request was queued (`oldest-enqueue`), from when a free instance "
        "takes the first request (`first-dequeue`), from when the newest request was queued, so that each one restarts it "
        "(`newest-enqueue`), from when the batcher's loop comes round, whenever a request came (`loop-entry`: a request and "
        "a free instance wait for each other for one delay at most, and batches that are not full leave a delay apart), or "
        "it changes with the load (`adaptive`).",
        "a delay that counts from the request",
        (False, "oldest-enqueue", "first-dequeue", "newest-enqueue", "loop-entry", "adaptive"),
    ),
    Claim(
        "delay_of",
        "Whose the queue delay is. It is a request's: if that one is cancelled, or expires, the others wait for their own "
        "(`request`). Or it is the batch's: it counts from the request that opened the batch, whatever becomes of that one, "
        "and whoever comes until then leaves with it (`batch`).",
        "a delay that each request has for itself",
        ("request", "batch"),
    ),
    Claim(
        "smallest_delay_ms",
        "The smallest queue delay that can be set, in milliseconds; 0: a batch need not wait at all.",
        "a queue delay of 0",
        least=0,
        whole=False,
        changes="Rules that would deploy a shorter delay deploy this one. Instead of none they deploy at least 10 ms if "
        "requests gather.",
    ),
    Claim(
        "zero_delay",
        "A configured delay of 0 means no delay (`off`), or the stack's own default (`default`).",
        "a delay of 0 that means none",
        ("off", "default"),
        changes="With `default`, `smallest_delay_ms` is deployed instead of 0, and at least 10 ms if requests gather.",
    ),
    Claim(
        "delay_resolution_ms",
        "A batch may leave so many milliseconds before its queue delay is over, because the stack looks at its timer only "
        "so often.",
        "a queue delay that is kept to the millisecond",
        least=1,
        whole=False,
        changes="Rules about when a batch leaves allow for it.",
    ),
    Claim(
        "batches_without_delay",
        "Requests share batches although the queue delay is 0: a backlog does, or what comes in one tick of an event loop, "
        "as with a DataLoader that has no timer. If not, only a queue delay gathers several requests, and where `delay` is "
        "not claimed either, no batch holds more than one.",
        "batches of several requests",
        (True, False),
        changes="If false, rules with several requests at once deploy the smallest delay above 0.",
    ),
    Claim(
        "smallest_batch",
        "The smallest max_batch_size that can be set.",
        "a batch of one",
        least=1,
        changes="Rules that would deploy a smaller limit deploy this one.",
    ),
    Claim(
        "batch_limit",
        "A batch can be limited (true), or it takes all that is due, however much that is (false): then `deploy` ignores "
        "max_batch_size.",
        "a limit of batches",
        (True, False),
        changes="If false, no batch is ever full, and rules that need one do not apply. The others deploy a limit that "
        "nothing reaches.",
    ),
    Claim(
        "batch_sizes",
        "A batch holds any number of rows up to max_batch_size (`any`), or only max_batch_size and powers of two below it "
        "(`powers-of-two`), or only max_batch_size and 1 (`one-or-full`): always the largest of these that the queue fills. "
        "Or the batcher chooses a limit of its own up to max_batch_size, which may change with what it measures "
        "(`chosen`): then a batch that is smaller may be full.",
        "batches of any size",
        ("any", "powers-of-two", "one-or-full", "chosen"),
        noun_of_value="a limit of batches that stays as it was set",
    ),
    Claim(
        "late_binding",
        "A batch takes in newcomers until an instance takes it, so that it grows while the model is busy. If not, it may be "
        "fixed before that, and leaves as it is: a more urgent request that comes later goes into a later batch, and one "
        "whose timeout is over by then keeps its place in it (`timeout_action: DELAY`).",
        "batches that grow while the model is busy",
        (True, False),
        changes="If false, a delay that rules need for batches is as long as it takes to send the requests of one batch.",
    ),
    Claim(
        "full_batch",
        "A full batch leaves at once (`leaves`), or when the queue delay of the requests in it is over, like any other "
        "(`waits`): a timer alone sends batches. Such a timer is a window, which its first request begins, whatever becomes "
        "of that one; what came meanwhile is cut into batches, and leaves when it ends.",
        "full batches that leave before their delay is over",
        ("leaves", "waits"),
    ),
    Claim(
        "queue",
        "All instances share one queue (`shared`), or each has its own (`each-instance`). Or each has its own, and an "
        "instance that finds its own empty takes from another one's (`stealing`): no instance is free while a request is "
        "due, but there is no order over all of them.",
        "a queue that the instances share",
        ("shared", "each-instance", "stealing"),
    ),
    Claim(
        "order",
        "Requests of a level leave in the order of their arrival (`arrival`), or nothing is promised about the order of "
        "those that wait (`any`): the newest may be first, or clients take turns. More urgent levels come first all the "
        "same, and the requests of a sequence keep their order.",
        "requests that leave in the order of their arrival",
        ("arrival", "any"),
    ),
    Claim(
        "order_within",
        "Within a batch, requests stand in the order in which they leave the queue (`arrival`), or in any order (`any`), as "
        "where the keys of a batch are a set: then only who is in which batch counts.",
        "requests that stand in their batch in the order in which they left the queue",
        ("arrival", "any"),
    ),
    Claim(
        "rows",
        "A request may have several rows: they are counted and stay together (`counted`, the same as true), they may be "
        "split over batches (`split`), or requests are the unit, whatever they hold (`requests`).",
        "rows that are counted",
        (False, "counted", "split", "requests"),
        true="counted",
    ),
    Claim(
        "timeout_covers",
        "The queue timeout limits the time in the queue (`queue`), or the whole request (`request`): one whose time is over "
        "is then refused at that moment, in the model as well.",
        "a timeout that covers only the queue",
        ("queue", "request"),
    ),
    Claim(
        "timeout_of",
        "Whose the queue timeout is. It is a request's (`request`). Or it is the batch's: it counts from the request that "
        "opened the batch, and whoever has joined it is refused with that one, before its own time is over (`batch`).",
        "a timeout that each request has for itself",
        ("request", "batch"),
    ),
    Claim(
        "queue_limit_counts",
        "max_queue_size counts what waits (`waiting`), or also what is being executed (`inside`).",
        "a queue limit that counts only what waits",
        ("waiting", "inside"),
        changes="With `inside`, rules that fill a queue behind a busy model deploy a limit that is larger by one: the "
        "request in the model has that place.",
    ),
    Claim(
        "queue_limit_unit",
        "max_queue_size is a number of requests (`requests`), or it is set as a number of batches, each of which holds "
        "max_batch_size (`batches`). With `batches`, rules that deploy another limit deploy smaller batches.",
        "a queue limit that is a number of requests",
        ("requests", "batches"),
    ),
    Claim(
        "shedding",
        "What is refused as full: what comes to a full queue (`newcomers`), the oldest request of a full queue, so that a "
        "newcomer has its place (`oldest`), or whatever the stack expects to wait too long as well (`expected-wait`).",
        "a backlog of which nothing is shed",
        ("newcomers", "oldest", "expected-wait"),
        changes="With `expected-wait`, a rule that is broken only because requests were shed is not judged.",
        noun_of_value="a queue that refuses newcomers",
    ),
    Claim(
        "failed_batch",
        "If the model raises, all requests of the batch fail (`fails`), or each is executed once more, alone, and only "
        "those fail for which the model raises again (`retried`).",
        "a failed batch that is not tried again",
        ("fails", "retried"),
    ),
    Claim(
        "counts_results",
        "The stack itself hands the results of a batch out to its requests, and fails a batch that comes back with more or "
        "fewer results than requests (true). Or the adapter hands them out, because the stack only calls a function with a "
        "batch, and so there is nothing of the stack's to judge (`adapter`).",
        "results that are counted",
        (*YES_OR_NO, "adapter"),
    ),
    Claim(
        "closing",
        "When a model is closed, what it has accepted is answered or refused (`either`), all of it is answered (`answers`), "
        "or what is in the model is answered and what waits is refused (`refuses`), or given up without a word (`drops`).",
        "a promise about what was accepted before",
        ("either", "answers", "refuses", "drops"),
        changes="Whatever is claimed, until closing has ended, a request whose queue timeout is over is refused and not "
        "executed, and an answer that waits for its turn is given. What is sent after the call is answered or "
        "refused, unless `after_closing` says otherwise.",
    ),
    Claim(
        "after_closing",
        "What is sent after a model was closed is answered or refused (`told`), or may be ignored without a word, as the "
        "documentation says (`ignored`).",
        "a promise about what comes after closing",
        ("told", "ignored"),
        changes="With `ignored`, what is ignored is not executed later.",
    ),
    Claim(
        "closing_ends",
        "Closing may end before what the model has accepted has left it (`any`), or it ends when all of that has been "
        "answered or refused, so that a process that ends then loses nothing (`settled`).",
        "a promise about when closing ends",
        ("any", "settled"),
    ),
    Claim(
        "closing_delay",
        "What closing does to a queue delay that is not over: it ends it, and what waits is answered or refused at once "
        "(`ended`), or what waits keeps its delay, and closing takes as long (`kept`).",
        "closing that ends queue delays",
        ("ended", "kept"),
        changes="With `kept`, rules that close a model while requests wait for an hour deploy a delay that ends soon.",
    ),
    Claim(
        "clients",
        "Several threads may submit requests at the same moment (`several`), or one thread submits them all (`one`).",
        "requests from several threads",
        ("several", "one"),
        changes="With `one`, what several threads would submit at the same moment is sent one after another.",
    ),
    Claim(
        "side_by_side",
        "Idle deployments do not disturb the one that is judged.",
        "deployments side by side",
        (True, False),
        changes="If false, there is one deployment at a time.",
    ),
)
