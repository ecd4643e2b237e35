"""What a configuration makes the server do, as sentences. Pure: a message in, sentences out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from batchproof.commands.explain.instances import instances
from batchproof.commands.explain.surprises import has_strategy, policies, slots, stages, varies
from batchproof.fixtures.judging.checkers.config.common import Neighbour, enum_name, settled
from batchproof.fixtures.judging.checkers.config.model import BATCH_BY_THEMSELVES
from batchproof.targets.triton.completion import FILES, adds_scheduler, completer, sets_batch_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tritonclient.grpc.model_config_pb2 import ModelConfig

IDLE_US = 1_000_000  # max_sequence_idle_microseconds where none is given
DAY_US = 86_400_000_000
LONG_US = 1_000_000_000_000  # from here on, days say more than seconds
LONGEST = 300  # characters of a name
DECOUPLED = "The model is decoupled: it may answer a request any number of times, and go on after it has taken the next"
NOT_STREAMED = "A request that comes neither on a gRPC stream nor to a generate endpoint of HTTP"
OF_A_STEP = (
    "A request that gives a step's model more rows, as the first size of a tensor, than its own max_batch_size takes."
)
NO_COMPLETION = "unless the server was started with --disable-auto-complete-config"
NOBODY = "None leaves: every instance group is passive, and a passive instance serves nothing. No request is answered."
STRATEGY_DECIDES = "A library is asked about each request, in turn: the first that it keeps out ends the batch before it."
UNKNOWN = Neighbour()
FEW = 20  # models, or versions, that a sentence lists
SWEEP_MS = 500  # how often waiting requests are looked at


@dataclass(frozen=True)
class Explanation:
    """What it is in one line; when a batch leaves; what a request waits for at most; which requests are refused."""

    summary: str
    leaves: tuple[str, ...]
    waits: tuple[str, ...]
    refused: tuple[str, ...]


def explain(config: ModelConfig, own: Neighbour = UNKNOWN) -> Explanation:
    """Explain a configuration that the server accepts. own: what is known of the model's code and of its other files."""
    if adds_scheduler(config):
        added = f"No scheduler is chosen: the backend adds `dynamic_batching {{ }}`, {NO_COMPLETION}."
        words = _as_written(completed(config))
        return replace(words, leaves=(added, *words.leaves))
    words = _as_written(config)
    return replace(words, leaves=(*_doubts(config, own), *words.leaves))


def guessed(config: ModelConfig, own: Neighbour) -> ModelConfig:
    """Return the configuration with the backend that the server guesses from the only file that tells one, or as it is."""
    if config.platform or config.backend or config.default_model_filename or own.file not in FILES:
        return config
    whole = type(config)()
    whole.CopyFrom(config)
    whole.backend = FILES[own.file]
    return whole


def completed(config: ModelConfig) -> ModelConfig:
    """Return the configuration with the scheduler that its backend is known to add, or as it is."""
    if not adds_scheduler(config):
        return config
    whole = type(config)()
    whole.CopyFrom(config)
    whole.dynamic_batching.SetInParent()
    return whole


def _doubts(config: ModelConfig, own: Neighbour) -> Iterator[str]:
    """Say what the backend may complete, in a way that changes the rest."""
    if config.backend in BATCH_BY_THEMSELVES:
        return
    if settled(sets_batch_size(config), own) is None:
        what = "max_batch_size is 0 or missing"
        then = "set it if the model has a batch dimension"
    elif settled(adds_scheduler(config), own) is None:
        what, then = "No scheduler is chosen", "add `dynamic_batching { }`"
    else:
        return
    yield f"{what}, and {completer(config)} may {then}: what follows holds if it does not."


def _as_written(config: ModelConfig) -> Explanation:
    if config.WhichOneof("scheduling_choice") != "ensemble_scheduling" and instances(config).none:
        return Explanation(_summary(config), (NOBODY,), (), ())
    alone = config.max_batch_size <= 1
    match config.WhichOneof("scheduling_choice"):
        case "dynamic_batching" if not (alone and config.backend in BATCH_BY_THEMSELVES):
            leaves, waits, refused = _dynamic(config)
        case "sequence_batching":
            leaves, waits, refused = _sequence(config)
        case "ensemble_scheduling":
            leaves = [f"It forms no batches: {_step_models(config)}, as their own configurations say."]
            words = "It waits in each step for that step's model."
            waits = [f"{words} Steps that do not need each other's tensors run side by side."]
            refused = [OF_A_STEP] * (not config.max_batch_size)
            if not config.model_transaction_policy.decoupled:
                refused.append(f"{NOT_STREAMED}, if the model of a step is decoupled: the ensemble then is, too.")
        case None | "dynamic_batching" if config.backend in BATCH_BY_THEMSELVES:
            leaves = [f"The server hands over each request at once and alone. {config.backend} batches by itself."]
            waits, refused = [f"It waits for what the settings of {config.backend} make it wait for."], []
        case _:
            leaves = ["Each request is executed alone, in the order of arrival, as soon as an instance is free."]
            waits, refused = [f"It waits for a free instance, {_as_long_as_it_takes(config)}"], []
    if config.response_cache.enable:
        leaves.append("Where the server has a response cache, a request whose answer is in it is not executed.")
    if decoupled := config.model_transaction_policy.decoupled or config.backend == "vllm":
        leaves.append(f"{DECOUPLED} {'batch' if config.WhichOneof('scheduling_choice') and not alone else 'request'}.")
    refused += [f"{NOT_STREAMED}, because the model is decoupled."] * decoupled
    served, others = _versions(config)
    if served and not config.HasField("ensemble_scheduling"):
        each = "Each has batches and instances of its own; a request that names none goes to the newest."
        leaves.append(f"{served}. {each}")
    refused += [f"A request for {others}."] * bool(others)
    return Explanation(_summary(config), tuple(leaves), tuple(waits), (*refused, *_always_refused(config)))


def _versions(config: ModelConfig) -> tuple[str, str]:
    """Return which versions a policy serves, if these can be several, and which others are refused."""
    policy = config.version_policy
    match policy.WhichOneof("policy_choice"):
        case "specific" if policy.specific.versions:
            numbers = [str(one) for one in sorted(set(policy.specific.versions))]
            shown = numbers[:FEW] + ["others"] * (len(numbers) > FEW)
            words = f"Versions {_listed(shown, 'and')} are served, if their folders are there" if len(shown) > 1 else ""
            return words, f"a version other than {_listed(shown)}"
        case "latest" if policy.latest.num_versions > 1:
            return f"The newest {policy.latest.num_versions} versions are served", "an older version"
        case "latest":
            return "", "a version other than the newest"
        case "all":
            return "Every version that has a folder is served", ""
    return "", ""


def _step_models(config: ModelConfig) -> str:
    """Return which models form batches in place of an ensemble."""
    names = list(dict.fromkeys(step.model_name for step in config.ensemble_scheduling.step))
    shown = [_short(name) for name in names[:FEW]] + ["..."] * (len(names) > FEW)
    which = f" ({', '.join(shown)})" * bool(names)
    return f"the models of its steps{which} do, or do not"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}..."


def _as_long_as_it_takes(config: ModelConfig) -> str:
    """Return what ends the wait for an instance: only a timeout of the queue's policy, which a request cannot bring."""
    found = [policy for _, _, policy in policies(config)]
    if any(one.default_timeout_microseconds and enum_name(one, "timeout_action") == "REJECT" for one in found):
        return "as long as that takes, unless its timeout ends it."
    return "as long as that takes: a timeout that it brings does not end it."


def duration(microseconds: int) -> str:
    """Return a time in the unit in which people say it."""
    if microseconds >= LONG_US:
        return f"{round(microseconds / DAY_US):,} days"
    for unit, size in (("s", 1_000_000), ("ms", 1_000)):
        if microseconds >= size:
            return f"{microseconds / size:g} {unit}"
    return f"{microseconds} us"


def _summary(config: ModelConfig) -> str:
    kinds = {"dynamic_batching": "a dynamic batcher", "ensemble_scheduling": "an ensemble"}
    choice = config.WhichOneof("scheduling_choice")
    oldest = config.sequence_batching.HasField("oldest")
    kind = f"a sequence batcher ({'oldest' if oldest else 'direct'})" if choice == "sequence_batching" else kinds.get(choice)
    most = min(config.max_batch_size, slots(config)) if oldest else config.max_batch_size
    where = "a batch" if choice in ("dynamic_batching", "sequence_batching") else "a request"
    rows = f"up to {most} rows in {where}" if most > 1 else f"one row in {where}" if most else "no batch dimension"
    ours = "" if choice == "ensemble_scheduling" else f", {instances(config)}"
    return f"{_short(config.name) or 'the model'}: {kind or 'no batcher'}, {rows}{ours}"


def _dynamic(config: ModelConfig) -> tuple[list[str], list[str], list[str]]:
    batching, most = config.dynamic_batching, config.max_batch_size
    if most <= 1:
        leaves = ["Each request is executed alone, whatever dynamic_batching says, because max_batch_size is not above 1."]
        return leaves, *_policy_words(config, 0)
    sizes = sorted(set(batching.preferred_batch_size))
    delay = batching.max_queue_delay_microseconds
    leaves = _leaves(sizes, most, delay, closes=not stages(config))
    if config.backend in BATCH_BY_THEMSELVES:
        words = f"{config.backend} takes such a batch at once, and forms batches of its own from the requests in it"
        leaves.append(f"{words}: here, a batch only says which requests are handed over together.")
    if has_strategy(config):
        leaves.append(STRATEGY_DECIDES)
    if varies(config):
        leaves.append(
            "Requests of different shapes do not share a batch: the first that does not fit ends the batch before it."
        )
    if any(tensor.is_shape_tensor for tensor in config.input):
        leaves.append("Only requests with the same values in the shape tensors share a batch.")
    if any(tensor.optional for tensor in config.input):
        leaves.append("Only requests that bring the same optional inputs share a batch.")
    if batching.preserve_ordering:
        leaves.append(
            "Answers are given in the order in which the requests entered batches, however fast the instances are."
        )
    if (levels := batching.priority_levels) > 1:
        default = f"a request without one of these has {batching.default_priority_level}"
        words = f"1 is the most urgent of {levels} priorities, and {default}"
        leaves.append(f"{words}. Less urgent requests enter a batch only after all that are more urgent.")
    return leaves, *_policy_words(config, delay)


def _leaves(sizes: list[int], most: int, delay: int, *, reach: int = 0, closes: bool = False) -> list[str]:
    """Return when a batch leaves.

    reach: the most rows that can ever wait together, if that is less than `most`: larger sizes are never seen.
    closes: it takes nothing more once it has left the queue.
    """
    free = "as soon as an instance is free"
    awaited = sizes or [most]
    most = min(most, reach or most)
    sizes, awaited = ([one for one in some if one <= most] for some in (sizes, awaited))
    others = f"If the next request would bring it above {sizes[-1]} rows, it leaves without that one." if sizes else ""
    if not delay:
        largest = f"the largest of {_listed(sizes)} rows" if len(sizes) > 1 else f"{_listed(sizes)} rows" if sizes else ""
        with_ = f"{largest} if the waiting requests make that, or else with " * bool(sizes)
        words = f"A batch leaves {free}, with {with_}all that waits, up to {most} rows. Nothing waits for company."
        return [words, *[others] * bool(sizes and closes)]
    full = f"A batch leaves {free} and {_listed(awaited)} rows wait." if awaited else ""
    it = "Otherwise it" if awaited else "A batch"
    late = f"{it} leaves {duration(delay)} after its oldest request came, with all that waits, up to {most} rows."
    clock = "This time also runs while every instance is busy."
    return [one for one in (full, others, late, clock) if one]


def _listed(items: Sequence[object], last: str = "or") -> str:
    return str(items[0]) if len(items) == 1 else f"{', '.join(str(item) for item in items[:-1])} {last} {items[-1]}"


def _policy_words(config: ModelConfig, delay: int) -> tuple[list[str], list[str]]:
    """Return what a request waits for, and what is refused, by the queue policies."""
    batching = config.dynamic_batching
    waits = [f"It waits for company for {duration(delay)} at most." if delay else "It does not wait for company."]
    if delay and 1 in batching.preferred_batch_size:
        waits.append("A request of one row does not wait where an instance is free, because 1 is a preferred size.")
    waits.append(f"It waits for a free instance, {_as_long_as_it_takes(config)}")
    if stages(config):
        words = "Up to 2 batches for each instance are formed ahead, behind busy instances"
        waits.append(f"{words}: what is in them cannot be cancelled or refused any more.")
    refused: list[str] = []
    for whose, _, policy in policies(config):
        _one_policy(whose, policy, bool(batching.priority_levels), waits, refused)
    return waits, refused


def _one_policy(whose: str, policy: Any, each: bool, waits: list[str], refused: list[str]) -> None:
    timeout = policy.default_timeout_microseconds
    override = ", or after a shorter timeout of its own," * policy.allow_timeout_override
    if timeout and enum_name(policy, "timeout_action") == "REJECT":
        words = f"A request{whose} that is in no batch after {duration(timeout)}{override}"
        refused.append(f"{words} is refused ('Request timeout expired'), up to {SWEEP_MS} ms late.")
    elif timeout:
        waits.append(f"After {duration(timeout)}{override} a request{whose} goes behind all others of its level.")
    if policy.max_queue_size:
        level = " of this level" if each else ""
        words = f"A request{whose} that finds {policy.max_queue_size} others{level} waiting"
        refused.append(f"{words} is refused ('Exceeds maximum queue size'). Requests count, not rows.")


def _sequence(config: ModelConfig) -> tuple[list[str], list[str], list[str]]:
    batching, most = config.sequence_batching, max(1, config.max_batch_size)
    idle = duration(batching.max_sequence_idle_microseconds or IDLE_US)
    if batching.HasField("oldest"):
        oldest = batching.oldest
        places = slots(config)
        delay = oldest.max_queue_delay_microseconds if most > 1 else 0
        leaves = _leaves(sorted(set(oldest.preferred_batch_size)), most, delay, reach=places)
        if most == 1:
            leaves = ["Requests are executed one by one, as soon as the instance is free."]
        words = f"Up to {places} sequences are" if places > 1 else "One sequence is"
        more = "; a batch has one request of each at most" * (most > 1)
        leaves.insert(0, f"{words} served by an instance at a time{more}.")
    else:
        direct = batching.direct
        delay = direct.max_queue_delay_microseconds if direct.minimum_slot_utilization else 0
        leaves = [f"Each sequence has one of {most} places in the batches of one instance until it ends."]
        if most == 1:
            leaves = ["Each sequence has an instance to itself until it ends, and its requests are executed one by one."]
        elif delay:
            share = f"{direct.minimum_slot_utilization:.0%} of the places have a request"
            leaves.append(f"A batch leaves when {share}, or {duration(delay)} after its oldest request came.")
        else:
            leaves.append("A batch leaves as soon as the instance is free, with one request of each sequence that has one.")
    waits = [
        f"It waits for company for {duration(delay)} at most." if delay else "It does not wait for company.",
        "The first request of a sequence waits until a place is free, as long as that takes, unless it brings a timeout.",
    ]
    whose = ["without a correlation ID", "without the START flag when its sequence is not known"]
    if batching.iterative_sequence:
        leaves.insert(0, "Each request is a sequence of its own, which the model may have executed again in a later batch.")
        whose = ["with a correlation ID that is not known but without the START flag"]
    whose = ["with several rows"] * bool(config.max_batch_size) + whose
    refused = [
        f"A request {', '.join(whose[:-1])}{', or ' * bool(whose[:-1])}{whose[-1]}.",
        f"A sequence ends when it brings nothing for {idle}; its next request is then refused unless it has the START flag.",
    ]
    return leaves, waits, refused


def _always_refused(config: ModelConfig) -> list[str]:
    most = config.max_batch_size
    alone = config.HasField("sequence_batching")
    many = f"{most} rows" if most > 1 else "one row"
    rows = [f"A request with more than {many}; it is never split."] if most and not alone else []
    optional = sum(tensor.optional for tensor in config.input)
    strange = "has an input, or asks for an output, that the model does not have."
    shaped = "A request whose input has another type or shape."
    if not optional:
        return [*rows, f"A request that lacks an input, {strange}", shaped]
    required = len(config.input) - optional
    fewer = "no input" if required == 1 else f"fewer than {required} inputs"
    counted = f"A request with {fewer}. The server only counts: an optional input makes up for one that is missing."
    return [*rows, *([counted] if required else []), f"A request that {strange}", shaped]
