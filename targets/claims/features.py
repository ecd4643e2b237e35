"""The claims about what a stack has: features, and what surrounds the batcher."""

from __future__ import annotations

from batchproof.targets.claims.claim import OR_NOTHING, YES_OR_NO, Claim

FEATURES = (
    Claim(
        "instances",
        "Several copies of the model run in parallel (true), or every batch is executed at once, however many there are, so "
        "that nothing waits for a busy model (`unlimited`).",
        "several instances",
        (*YES_OR_NO, "unlimited"),
        changes="With `unlimited`, rules about requests that wait for a busy model, or about a number of instances, have no "
        "meaning. Rules for which requests only have to share a batch send them at once.",
        noun_of_value="requests that wait for a busy model",
    ),
    Claim("crowd", "Thousands of requests may be inside at once.", "thousands of requests at once"),
    Claim("close", "A model can be removed while it is in use.", "removal of a model"),
    Claim("cancel", "A request can be cancelled.", "cancellation"),
    Claim("queue_timeout", "A request that waits too long is refused.", "a queue timeout"),
    Claim(
        "timeout_delay",
        "A request that waits too long may instead be served after all others of its level (`timeout_action: DELAY`).",
        "a timeout that delays",
    ),
    Claim("timeout_override", "A request may bring a shorter timeout of its own.", "a timeout for each request"),
    Claim(
        "meets_timeouts",
        "A batch leaves before its queue delay is over where a request that waits would otherwise be late before that. If "
        "not, such a request is refused when its timeout is over, although an instance is free.",
        "a delay that ends in time for each request",
        changes="If true, a batch that is not full may leave early if a timeout ends before its delay.",
        noun_of_value="a queue delay that lasts longer than a timeout",
    ),
    Claim("max_queue_size", "The queue can be limited.", "a queue limit"),
    Claim(
        "preferred_sizes",
        "There are batch sizes at which a batch leaves at once. A batch is as large as the largest of them that the queue "
        "can fill, does not grow beyond that before its delay is over, and leaves at once if the next request would exceed "
        "the largest, or if a single request does (`largest`, the same as true). The same holds without a delay: six "
        "requests that wait leave as four and two if four is preferred. Or nothing more is promised (`at-once`).",
        "preferred batch sizes",
        (False, "largest", "at-once"),
        true="largest",
        noun_of_value="batches of the largest preferred size that the queue can fill",
    ),
    Claim("ordering", "Answers come in the order of batches, over several instances.", "preserved order"),
    Claim("priorities", "Requests have priority levels, and 1 is the most urgent.", "priority levels"),
    Claim(
        "other_priorities",
        "A request whose priority is none of the levels has the default level (`default`), or is refused (`refused`).",
        "priorities outside of the levels",
        ("default", "refused"),
        noun_of_value="the default level for other priorities",
    ),
    Claim(
        "shapes",
        "Requests may have a second tensor with any number of columns; those of one shape share a batch. All wait in one "
        "queue, and a batch is its head (`one-queue`, the same as true). Or each shape has a queue of its own, and none is "
        "passed over by more than eight batches that came later (`each-shape`).",
        "inputs with a variable shape",
        (False, "one-queue", "each-shape"),
        true="one-queue",
        changes="With `each-shape`, priority levels and the order of arrival hold among the requests of one shape, and "
        "nothing is promised about the levels of different shapes, but that none is passed over by more than eight batches "
        "that are not more urgent. A queue limit counts the requests of all shapes (of a level), and `preserve_ordering` "
        "holds over the batches of all shapes.",
        noun_of_value="one queue for all shapes",
    ),
    Claim("ragged", "Requests of different shapes may share a batch.", "ragged batches"),
    Claim("optional_inputs", "An input may be left out.", "optional inputs"),
    Claim(
        "sequences",
        "Requests with a correlation ID form a sequence, whose state stays in one instance: each keeps its place in the "
        "batch (`direct`), a dynamic batcher picks from their next requests (`oldest`), or either can be configured "
        "(`both`, the same as true).",
        "sequences",
        (False, "direct", "oldest", "both"),
        true="both",
        noun_of_value="that strategy for sequences",
    ),
    Claim(
        "sequence_ids",
        "Which correlation IDs name a sequence: those of the type that the model asks for, while others are refused "
        "(`typed`); numbers only (`numbers`); or numbers and strings alike, of any length (`any`). Typed strings have up to "
        "128 characters, and longer ones are refused.",
        "correlation IDs of a type",
        ("typed", "numbers", "any"),
    ),
    Claim(
        "sequence_state",
        "The batcher keeps tensors for each sequence between its requests: one (`one`, the same as true), or as many as the "
        "model is configured with (`several`).",
        "implicit state",
        (False, "one", "several"),
        true="one",
        noun_of_value="several state tensors",
    ),
    Claim(
        "custom_batching",
        "A strategy of the user's decides who joins a batch: requests have volumes, and a batch has a limit of their sum.",
        "a batching strategy",
    ),
    Claim("response_cache", "Equal inputs are answered without an execution.", "a response cache"),
    Claim("statistics", "The server counts requests and executions.", "statistics"),
    Claim("error_status", "Errors have a status (`Refused.status`, canonical gRPC names).", "error statuses"),
    Claim("faults", "The server can be paused, and a model's process can be killed.", "faults on demand"),
    Claim("defaults", "It can be deployed with nothing set (the verb `deploy_defaults`).", "a deployment with nothing set"),
    Claim(
        "default_batch",
        "The documentation says that a batch holds at most so many requests of one row if nothing is set; 1: it forms no "
        "batches.",
        "a documented batch size",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "default_delay_ms",
        "The documentation says that the queue delay is so many milliseconds if nothing is set; 0: there is none.",
        "a documented queue delay",
        OR_NOTHING,
        least=0,
        whole=False,
    ),
    Claim("config", "The target has a config.pbtxt, and reports what it serves.", "a config.pbtxt"),
    Claim("repository", "Models are loaded and unloaded while others serve (the verb `repository`).", "a model repository"),
    Claim("ensembles", "A model may be a row of other models, each of which batches by itself.", "ensembles"),
    Claim("shared_memory", "Tensors may be in shared memory instead of the request.", "shared memory"),
    Claim("rate_limiter", "Executions wait for resources of which there are only so many units.", "a rate limiter"),
    Claim("validation", "The target refuses invalid configurations.", "validation of configurations"),
    Claim("torch", "The target serves torch modules.", "torch modules"),
)
