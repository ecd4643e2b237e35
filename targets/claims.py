"""What a stack can claim: one table, and what a set of claims says about what a rule needs.

A *need* is a claim's name (`delay`: the claim is made), or a name with the values that meet it (`queue=shared`,
`delay_anchor=oldest-enqueue|first-dequeue`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import Any

Value = bool | int | float | str
YES_OR_NO = (False, True)
OR_NOTHING = (False,)  # for a number that need not be claimed


@dataclass(frozen=True)
class Claim:
    """One claim.

    says: what a stack says with it. noun: what a stack lacks whose value is not the one that a rule needs ("without ...").
    noun_of_value: the same for a rule that needs certain values of it, where that is something else.
    values: those that can be claimed, of which the first is the default; False as a default means: it promises nothing.
    least: for a claim that is a number, the smallest one, which is the default unless `values` says otherwise. whole: the
    number is an integer.
    true: the value that `true` stands for. changes: what the value changes, apart from which rules apply.
    """

    name: str
    says: str
    noun: str
    values: tuple[bool | str, ...] = YES_OR_NO
    least: int | None = None
    whole: bool = True
    true: str = ""
    changes: str = ""
    noun_of_value: str = ""

    @property
    def default(self) -> Value:
        """The value of a stack that does not say anything about it."""
        return self.values[0] if self.least is None or self.values != YES_OR_NO else self.least

    @property
    def choices(self) -> str:
        """The values that can be claimed, for people to read."""
        if self.least is not None:
            other = "".join(f"{_text(value)}, or " for value in self.values if self.values != YES_OR_NO)
            return f"{other}{'an integer' if self.whole else 'a number'} of {self.least} or more"
        return " or ".join(", ".join(map(_text, self.values)).rsplit(", ", 1))

    def accepts(self, value: object) -> bool:
        """Return whether this can be claimed."""
        if self.least is None:
            return any(value is one or (isinstance(one, str) and value == one) for one in self.values) or (
                bool(self.true) and value is True
            )
        if isinstance(value, bool):
            return self.values != YES_OR_NO and value in self.values
        if not isinstance(value, int if self.whole else int | float):
            return False
        return isfinite(value) and value >= self.least


_TABLE = (
    # ------------------------------------------------------------------------------- how the stack is meant to work
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
        "executed, and an answer that waits for its turn is given. What is sent after the call is answered or refused.",
    ),
    Claim(
        "closing_ends",
        "Closing may end before what the model has accepted has left it (`any`), or it ends when all of that has been "
        "answered or refused, so that a process that ends then loses nothing (`settled`).",
        "a promise about when closing ends",
        ("any", "settled"),
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
    # ---------------------------------------------------------------------------------------------------- features
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
    Claim("sequence_state", "The batcher keeps tensors for each sequence between its requests.", "implicit state"),
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
    # ------------------------------------------------------------------- engines that form their batch in each iteration
    Claim(
        "iterations",
        "An engine's iterations happen by themselves (`free`), or the adapter runs them one at a time (`stepped`).",
        "iterations that can be run one at a time",
        ("free", "stepped"),
    ),
    Claim(
        "text",
        "The language model in the engine is the witness, whose text tells the whole context (`witness`), or the same thing "
        "as a transformer, for engines that take only graphs (`graph`). Or nobody knows it (`unknown`): then texts are only "
        "compared with each other.",
        "a language model whose text is known",
        ("witness", "graph", "unknown"),
        noun_of_value="a language model that nobody knows",
    ),
    Claim(
        "joins_within",
        "A request for which there is room takes part at the latest in this iteration after its arrival: 1 is the next one. "
        "An engine may keep the KV blocks of a whole prompt from its start, without preemption those of a whole text.",
        "a bound on when a request joins",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "admission",
        "Requests are admitted in the order of their arrival (`arrival`).",
        "admission in the order of arrival",
        (False, "arrival"),
    ),
    Claim("chunked_prefill", "A long prompt may be computed in several iterations.", "chunked prefill"),
    Claim(
        "mixed_iterations",
        "An iteration may compute prompts of some requests and next tokens of others.",
        "iterations with prompts and next tokens",
    ),
    Claim(
        "stall_free",
        "While prompts are computed, every running text goes on in each iteration.",
        "running texts that go on alongside prompts",
    ),
    Claim(
        "goes_on_within",
        "However many prompts come, a running text gets its next token this many iterations later at most, as long as its "
        "KV blocks are not taken: 1 is each iteration.",
        "a bound on how long prompts hold up a text",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "request_priorities",
        "Requests have priorities, and a lower number comes first: in the queue (`admission`), or it also displaces running "
        "requests (`preempting`).",
        "priorities of requests",
        (False, "admission", "preempting"),
    ),
    Claim(
        "preemption",
        "If the KV cache is full, a running request loses its blocks: it is computed again later (`recompute`), kept in "
        "other memory (`swap`), or now the one and now the other (`either`).",
        "preemption",
        (False, "recompute", "swap", "either"),
    ),
    Claim(
        "keeps_place",
        "A request that has lost its KV blocks keeps its place in the order of admission: it comes back before any that "
        "come after it.",
        "requests that keep their place when they lose their KV blocks",
    ),
    Claim(
        "most_waiting",
        "So many requests may wait, and more are refused; one that has lost its KV blocks may count as well.",
        "a limit on how many requests wait",
        OR_NOTHING,
        least=1,
        changes="Rules never let more requests wait, but for CB-LAW-010, which judges who is refused.",
    ),
    Claim(
        "prefix_cache",
        "Requests that begin alike share KV blocks (true), or what a request leaves behind serves one that begins alike at "
        "a time, which takes over its place (`handed-on`).",
        "a prefix cache",
        (False, True, "handed-on"),
    ),
    Claim(
        "takes_turns",
        "An engine may keep more requests in its KV cache than an iteration has rows (max_num_seqs), and these take turns. "
        "If false, a request that runs is in each iteration that has room for it.",
        "more requests that run than an iteration has rows",
    ),
    Claim(
        "stages",
        "So many iterations are under way at the same time, each of other requests, as with micro-batches in the stages of "
        "a pipeline: a request that runs is in at least one of so many in a row. 1: it is in each.",
        "one iteration at a time",
        least=1,
    ),
    Claim(
        "long_prefill_limit",
        "A limit can be set on the tokens of a prompt that an iteration computes while there are other requests.",
        "a limit on long prompts alongside others",
    ),
    Claim("samples", "A request may ask for several continuations of its prompt.", "several continuations"),
    Claim("streaming", "Tokens are delivered while others are still made.", "streaming"),
    Claim(
        "streams_within",
        "A token comes out this many iterations after it is made at the latest: 1 is the end of the one that makes it.",
        "a bound on when a token comes out",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "looks_ahead",
        "An iteration is formed before the tokens of this many earlier ones are known (asynchronous scheduling): a text is "
        "computed this often after its last token or an abort at most, and what that makes is thrown away.",
        "iterations that are formed ahead",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "speculates",
        "After the last token of a text, an iteration may compute this many guessed ones at most (speculative decoding). "
        "Those that are right come out together, and the others are thrown away.",
        "speculative decoding",
        OR_NOTHING,
        least=1,
    ),
    Claim("stop_tokens", "A request may name tokens that end its text.", "stop tokens"),
    Claim("gauges", "An engine tells how many requests run and wait, and how full its KV cache is.", "gauges"),
    Claim("kv_blocks", "The number of KV blocks can be set.", "a size of the KV cache"),
    Claim(
        "token_budget",
        "How many tokens an iteration computes at most can be set.",
        "a token budget",
        (True, False),
        changes="If false, rules deploy a budget that no iteration can reach.",
    ),
    Claim(
        "max_model_len",
        "The longest text, a prompt and its continuation, can be set.",
        "a limit of prompt and continuation together",
        (True, False),
    ),
    Claim(
        "block_size",
        "The smallest KV block that can be set, in tokens.",
        "a block of one token",
        least=1,
        changes="Rules deploy blocks of this size, and measure prompts in blocks.",
    ),
    Claim(
        "duplicate_ids",
        "A request whose ID another one has at this moment is refused (`refused`), or both are served (`apart`).",
        "a rule for duplicate IDs",
        (False, "refused", "apart"),
    ),
    Claim("disconnects", "A client that goes away takes its request back.", "clients that go away"),
)
CLAIMS: Mapping[str, Claim] = {claim.name: claim for claim in _TABLE}


def value_of(claims: Mapping[str, Any], name: str) -> Any:
    """Return what is claimed, or the default; KeyError for a claim that does not exist."""
    claim = CLAIMS[name]
    value = claims.get(name, claim.default)
    return claim.true if claim.true and value is True else value


def unmet(claims: Mapping[str, Any], needs: Sequence[str]) -> str | None:
    """Return the first of `needs` that the claims do not meet, or None."""
    return next((need for need in needs if not _meets(claims, need)), None)


def contradicted(claims: Mapping[str, Any], needs: Sequence[str]) -> str | None:
    """Return the first of `needs` that a claim rules out: the stack says that it works in another way. None: there is none.

    A promise that is not made (a value of False where that is the default) rules nothing out: it is only unmet.
    """
    for need in needs:
        claim = CLAIMS[need.partition("=")[0]]
        promises_nothing = claim.default is False and value_of(claims, claim.name) is False
        if not promises_nothing and not _meets(claims, need):
            return need
    return None


def as_claimed(claims: Mapping[str, Any], need: str) -> str:
    """Return what is claimed instead of a need: `queue = each-instance`."""
    name = need.partition("=")[0]
    return f"{name} = {_text(value_of(claims, name))}"


def noun_of(need: str) -> str:
    """Return what a stack lacks that does not meet a need: `a queue delay`. Any other word stays as it is."""
    name, _, values = need.partition("=")
    claim = CLAIMS.get(name)
    if claim is None:
        return need
    return claim.noun_of_value if values and claim.noun_of_value else claim.noun


def problems(claims: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with these claims, a sentence each: unknown names, and values that cannot be claimed."""
    return list(_problems(claims))


def _problems(claims: Mapping[str, Any]) -> Iterator[str]:
    for name, value in claims.items():
        if claim := CLAIMS.get(name):
            if not claim.accepts(value):
                yield f"the claim '{name}' is {claim.choices}, not {_shown(value)}"
            continue
        near = get_close_matches(str(name), CLAIMS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose from {', '.join(sorted(CLAIMS))}"
        yield f"unknown claim '{name}': {hint}"


def _meets(claims: Mapping[str, Any], need: str) -> bool:
    name, _, wanted = need.partition("=")
    value = value_of(claims, name)
    if name == "batches_without_delay" and value_of(claims, "delay"):
        return True  # there are batches: the rule is driven with a delay
    if name == "instances" and not wanted:
        return value is True  # a number of them can be set
    return _text(value) in wanted.split("|") if wanted else value is not False


def _text(value: object) -> str:
    """Return a value as a need or a TOML file has it, without quotation marks."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _shown(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else _text(value)
