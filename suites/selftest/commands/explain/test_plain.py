"""The sentences: what a configuration makes the server do."""

from __future__ import annotations

import pytest

from batchproof.commands.explain.plain import Explanation, duration, explain
from batchproof.fixtures.judging.checkers.config.common import Neighbour
from batchproof.fixtures.judging.pbtxt import parse

FREE = "A batch leaves as soon as an instance is free"
ELSE = "or else with all that waits, up to 8 rows. Nothing waits for company."
AUTO = "1 instance (with GPUs: 1 on each)"
HEAD = 'name: "m" backend: "python" max_batch_size: 8 '
STRANGE = "has an input, or asks for an output, that the model does not have."
SHAPED = "A request whose input has another type or shape."


def told(rest: str, head: str = HEAD) -> Explanation:
    """Explain the configuration of a model whose own code completes nothing."""
    parsed = parse(head + rest)
    assert parsed.mistakes == ()
    return explain(parsed.config, Neighbour(as_listed=True))


@pytest.mark.parametrize(
    ("batching", "leaves"),
    [
        ("", [f"{FREE}, with all that waits, up to 8 rows. Nothing waits for company."]),
        (
            "max_queue_delay_microseconds: 1500",
            [
                f"{FREE} and 8 rows wait.",
                "Otherwise it leaves 1.5 ms after its oldest request came, with all that waits, up to 8 rows.",
                "This time also runs while every instance is busy.",
            ],
        ),
        (
            "max_queue_delay_microseconds: 2000000 preferred_batch_size: [ 4, 2 ]",
            [
                f"{FREE} and 2 or 4 rows wait.",
                "If the next request would bring it above 4 rows, it leaves without that one.",
                "Otherwise it leaves 2 s after its oldest request came, with all that waits, up to 8 rows.",
                "This time also runs while every instance is busy.",
            ],
        ),
        (
            "max_queue_delay_microseconds: 2000000 preferred_batch_size: [ 1, 4 ]",
            [
                f"{FREE} and 1 or 4 rows wait.",
                "If the next request would bring it above 4 rows, it leaves without that one.",
                "Otherwise it leaves 2 s after its oldest request came, with all that waits, up to 8 rows.",
                "This time also runs while every instance is busy.",
            ],
        ),
        (
            "preferred_batch_size: [ 1, 4 ]",
            [f"{FREE}, with the largest of 1 or 4 rows if the waiting requests make that, {ELSE}"],
        ),
        ("preferred_batch_size: 4", [f"{FREE}, with 4 rows if the waiting requests make that, {ELSE}"]),
        (
            "preferred_batch_size: 4 default_queue_policy { max_queue_size: 9 }",
            [
                f"{FREE}, with 4 rows if the waiting requests make that, {ELSE}",
                "If the next request would bring it above 4 rows, it leaves without that one.",
            ],
        ),
    ],
)
def test_when_a_batch_leaves(batching: str, leaves: list[str]) -> None:
    """A size that is reached or a delay that is over."""
    assert list(told(f"dynamic_batching {{ {batching} }}").leaves) == leaves


def test_policies() -> None:
    """Timeouts and limits, by level, in the units and the words of the server."""
    policy = "default_queue_policy { default_timeout_microseconds: 3000 max_queue_size: 5 }"
    level = "priority_queue_policy { key: 1 value { timeout_action: DELAY default_timeout_microseconds: 7 } }"
    found = told(f"dynamic_batching {{ priority_levels: 2 default_priority_level: 2 {policy} {level} }}")

    full = "is refused ('Exceeds maximum queue size'). Requests count, not rows."
    assert found.refused[:2] == (
        "A request of priority 2 that is in no batch after 3 ms is refused ('Request timeout expired'), up to 500 ms late.",
        f"A request of priority 2 that finds 5 others of this level waiting {full}",
    )
    assert found.waits[-1] == "After 7 us a request of priority 1 goes behind all others of its level."


@pytest.mark.parametrize(
    ("levels", "keys", "whose"),
    [
        (0, (1, 2), ["A request"]),  # without levels, the server looks at no policy of a level
        (3, (), ["A request"]),
        (3, (2,), ["A request of priority 1 or 3", "A request of priority 2"]),
        (2, (1, 2), ["A request of priority 1", "A request of priority 2"]),  # and at the default one if a level needs it
        (9, (2,), ["A request of a priority without a policy of its own", "A request of priority 2"]),
    ],
)
def test_whose_policies(levels: int, keys: tuple[int, ...], whose: list[str]) -> None:
    """A policy is told only if some request has it, and of these requests alone."""
    priorities = f"priority_levels: {levels} default_priority_level: 1" if levels else ""
    own = " ".join(f"priority_queue_policy {{ key: {key} value {{ max_queue_size: 3 }} }}" for key in keys)
    found = told(f"dynamic_batching {{ {priorities} default_queue_policy {{ max_queue_size: 3 }} {own} }}")

    assert [words.partition(" that finds 3 others")[0] for words in found.refused if "maximum queue size" in words] == whose


@pytest.mark.parametrize(("size", "told_of"), [(8, True), (1, False)])
def test_custom_batching(size: int, told_of: bool) -> None:
    """A library that decides which requests join a batch is told of, if batches are formed."""
    library = 'parameters { key: "TRITON_BATCH_STRATEGY_PATH" value { string_value: "/opt/volume.so" } }'
    found = told(f"dynamic_batching {{ }} {library}", head=f'name: "m" max_batch_size: {size} ')

    assert any("A library is asked about each request" in words for words in found.leaves) is told_of


@pytest.mark.parametrize(
    ("rest", "head", "summary", "leaves"),
    [
        ("", HEAD, f"m: no batcher, up to 8 rows in a request, {AUTO}", "Each request is executed alone, in the order"),
        ("dynamic_batching { }", "", f"the model: a dynamic batcher, no batch dimension, {AUTO}", "Each request is"),
        (
            "instance_group [ { count: 2 gpus: [ 0, 1 ] } ] sequence_batching { oldest { max_candidate_sequences: 3 } }",
            HEAD,
            "m: a sequence batcher (oldest), up to 3 rows in a batch, 4 instances",
            "Up to 3 sequences are served by an instance",
        ),
        (
            'ensemble_scheduling { step { model_name: "b" } step { model_name: "a" } step { model_name: "b" } }',
            HEAD,
            "m: an ensemble, up to 8 rows in a request",
            "It forms no batches: the models of its steps (b, a) do, or do not, as their own configurations say.",
        ),
        ("", 'name: "m" backend: "pytorch" max_batch_size: 1 ', f"m: no batcher, one row in a request, {AUTO}", "Each"),
    ],
)
def test_kinds_of_batchers(rest: str, head: str, summary: str, leaves: str) -> None:
    """What has no dynamic batcher is explained, too."""
    found = told(rest, head)
    assert found.summary == summary
    assert found.leaves[0].startswith(leaves)


def test_only_a_timeout_of_the_policy_ends_the_wait() -> None:
    """What a request brings does not, without a default timeout that it may shorten."""
    wait = "It waits for a free instance, as long as that takes"
    ignored, ended = f"{wait}: a timeout that it brings does not end it.", f"{wait}, unless its timeout ends it."

    assert ignored in told("").waits
    assert ignored in told("dynamic_batching { default_queue_policy { max_queue_size: 3 } }").waits
    delayed = "default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 9 }"
    assert ignored in told(f"dynamic_batching {{ {delayed} }}").waits
    assert ended in told("dynamic_batching { default_queue_policy { default_timeout_microseconds: 9 } }").waits


@pytest.mark.parametrize(
    ("rest", "head", "after", "refuses"),
    [
        ("model_transaction_policy { decoupled: true }", HEAD, "the next request.", True),
        ("model_transaction_policy { decoupled: true } dynamic_batching { }", HEAD, "the next batch.", True),
        ("", 'name: "m" backend: "vllm"', "the next request.", True),
        ("dynamic_batching { }", HEAD, "", False),
    ],
)
def test_a_decoupled_model_takes_requests_on_a_stream(rest: str, head: str, after: str, refuses: bool) -> None:
    """The server refuses others; vLLM's backend makes every model decoupled."""
    found = told(rest, head)

    assert any(one.startswith("The model is decoupled") and one.endswith(after) for one in found.leaves) is refuses
    assert any("neither on a gRPC stream" in one for one in found.refused) is refuses


@pytest.mark.parametrize(("most", "refuses"), [(0, True), (8, False)])
def test_a_step_refuses_rows_that_an_ensemble_without_batches_does_not_count(most: int, refuses: bool) -> None:
    """An ensemble with batches is refused as it is loaded where a step takes fewer rows."""
    steps = 'ensemble_scheduling { step { model_name: "a" model_version: -1 } }'
    found = told(steps, f'name: "e" platform: "ensemble" max_batch_size: {most} ')

    assert any("gives a step's model more rows" in one for one in found.refused) is refuses


def test_an_engine_batches_by_itself() -> None:
    """What the dynamic batcher hands over is not what the engine runs; without rows to batch, nothing is put together."""
    engine = 'name: "m" backend: "tensorrtllm" max_batch_size: 8 '
    batched = told("dynamic_batching { max_queue_delay_microseconds: 1000 }", engine)
    alone = told("dynamic_batching { max_queue_delay_microseconds: 1000 }", 'name: "m" backend: "vllm"')

    assert "Otherwise it leaves 1 ms after" in batched.leaves[1]
    assert any(one.startswith("tensorrtllm takes such a batch at once") for one in batched.leaves)
    assert alone.leaves[0] == "The server hands over each request at once and alone. vllm batches by itself."


def test_sequences_of_one_row_and_iterative_ones() -> None:
    """Without batches, a sequence has its instance alone; an iterative request needs no correlation ID."""
    alone = told("sequence_batching { }", 'name: "m" backend: "python" ')
    iterative = told("sequence_batching { iterative_sequence: true }")

    assert alone.leaves[0].startswith("Each sequence has an instance to itself until it ends")
    assert iterative.leaves[0].startswith("Each request is a sequence of its own")
    assert "without a correlation ID" not in iterative.refused[0]


@pytest.mark.parametrize(
    ("rest", "leaves"),
    [
        ("", "with all that waits, up to 3 rows. Nothing waits for company."),
        ("preferred_batch_size: [ 2, 5 ]", "with 2 rows if the waiting requests make that, or else with all that waits"),
        ("max_queue_delay_microseconds: 7", "A batch leaves 7 us after its oldest request came, with all that waits"),
        ("preferred_batch_size: [ 2, 5 ] max_queue_delay_microseconds: 7", "an instance is free and 2 rows wait."),
    ],
)
def test_no_batch_has_more_rows_than_sequences_are_served(rest: str, leaves: str) -> None:
    """A batch has one request of each sequence at most, so what needs more of them never happens."""
    found = told(f"sequence_batching {{ oldest {{ max_candidate_sequences: 3 {rest} }} }}")

    assert leaves in found.leaves[1]
    assert not any("8 rows" in sentence or "5" in sentence for sentence in (found.summary, *found.leaves))


def test_a_batch_of_one_sequence_waits_for_nobody() -> None:
    """The delay of a model without batches does nothing."""
    delay = "oldest { max_candidate_sequences: 3 max_queue_delay_microseconds: 7 }"
    found = told(f"sequence_batching {{ {delay} }}", 'name: "m" backend: "pytorch" max_batch_size: 1 ')

    assert found.waits[0] == "It does not wait for company."


def test_one_sequence_at_a_time_is_not_told_as_a_batch() -> None:
    """Without a batch dimension, no sentence counts rows."""
    found = told("sequence_batching { oldest { } }", 'name: "m" backend: "pytorch" ')

    one, by_one = "One sequence is served by an instance at a time.", "Requests are executed one by one,"
    assert found.leaves[0] == one
    assert found.leaves[1].startswith(by_one)
    assert found.refused[0].startswith("A request without a correlation ID, or without the START flag")


@pytest.mark.parametrize(
    ("policy", "leaves", "refused"),
    [
        ("", "", ""),
        ("all { }", "Every version that has a folder is served. Each has batches and instances of its own;", ""),
        ("latest { num_versions: 1 }", "", "A request for a version other than the newest."),
        ("latest { num_versions: 2 }", "The newest 2 versions are served. Each has", "A request for an older version."),
        ("specific { versions: 3 }", "", "A request for a version other than 3."),
        (
            "specific { versions: [ 3, 1 ] }",
            "Versions 1 and 3 are served, if their folders are there. Each has",
            "A request for a version other than 1 or 3.",
        ),
    ],
)
def test_versions(policy: str, leaves: str, refused: str) -> None:
    """A policy says which versions there are: each is a model of its own, and others are refused."""
    found = told(f"version_policy {{ {policy} }} dynamic_batching {{ }}" if policy else "dynamic_batching { }")

    told_of = [one[: len(leaves)] for one in found.leaves if "ersion" in one]
    assert told_of == [leaves] * bool(leaves)
    assert [one for one in found.refused if "version" in one] == [refused] * bool(refused)


def test_durations() -> None:
    """Times are said in the unit that fits."""
    assert [duration(us) for us in (7, 1000, 1500, 2_000_000, 2**64 - 1)] == [
        "7 us",
        "1 ms",
        "1.5 ms",
        "2 s",
        "213,503,982 days",
    ]


def test_a_backend_may_add_a_batcher() -> None:
    """TensorRT adds a scheduler where none is chosen; with Python, each request is executed alone."""
    added, free = told("", 'backend: "tensorrt" max_batch_size: 8 ').leaves

    assert added.startswith("No scheduler is chosen: the backend adds `dynamic_batching { }`")
    assert free.startswith(FREE)
    assert told("").leaves == ("Each request is executed alone, in the order of arrival, as soon as an instance is free.",)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ('backend: "python" max_batch_size: 8', "No scheduler is chosen, and the model's own code may add"),
        ('backend: "openvino" max_batch_size: 8', "No scheduler is chosen, and its backend may add"),
        ('platform: "onnxruntime_onnx"', "max_batch_size is 0 or missing, and its backend may set it"),
        ('backend: "tensorrt" dynamic_batching { }', "max_batch_size is 0 or missing, and its backend may set it"),
        ('backend: "python" max_batch_size: 8 dynamic_batching { }', ""),
        ('backend: "onnxruntime" input { } output { }', ""),
        ('backend: "pytorch" max_batch_size: 8', ""),
        ('backend: "vllm"', ""),
        ('platform: "ensemble" ensemble_scheduling { }', ""),
    ],
)
def test_what_may_be_completed_is_said_first(text: str, doubt: str) -> None:
    """What the model's file or code may change is not told as a fact."""
    first = explain(parse(text).config).leaves[0]

    assert first.startswith(doubt) if doubt else "what follows" not in first


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("", AUTO),
        ('platform: "onnxruntime_onnx"', "2 instances (with GPUs: 1 on each)"),
        ('backend: "tensorflow" instance_group { kind: KIND_CPU }', "2 instances"),
        ('backend: "onnxruntime" instance_group { kind: KIND_CPU count: 1 }', "1 instance"),
        ("instance_group { kind: KIND_GPU count: 3 }", "3 instances on each GPU"),
        ("instance_group { kind: KIND_MODEL } instance_group { kind: KIND_GPU }", "1 instance and 1 instance on each GPU"),
        ("instance_group { kind: KIND_GPU gpus: [ 0, 1 ] count: 2 }", "4 instances"),
        ("instance_group { count: 2 } instance_group { kind: KIND_CPU }", "3 instances (with GPUs: 2 on each, and 1 more)"),
        (
            "instance_group { kind: KIND_CPU } instance_group { kind: KIND_CPU count: 2 passive: true }",
            "1 instance, besides passive ones, which serve nothing",
        ),
        ("instance_group { kind: KIND_GPU passive: true }", "no instance that serves"),
    ],
)
def test_instances(groups: str, words: str) -> None:
    """How many there are depends on the host's GPUs, and on the backend where no count is given."""
    assert told(groups, 'name: "m" ').summary == f"m: no batcher, no batch dimension, {words}"


def test_a_lone_row_that_does_not_wait_is_told() -> None:
    """With a preferred size of 1, the delay is for requests of several rows."""
    found = told("dynamic_batching { preferred_batch_size: [ 1, 4 ] max_queue_delay_microseconds: 100 }")

    assert found.waits[:2] == (
        "It waits for company for 100 us at most.",
        "A request of one row does not wait where an instance is free, because 1 is a preferred size.",
    )


def test_what_batches_by_itself_is_not_said_to_execute_requests_alone() -> None:
    """An engine with continuous batching gets each request alone, and puts them together; a decoupled model goes on."""
    decoupled = "model_transaction_policy { decoupled: true }"
    engine = told(decoupled, 'backend: "vllm" ')

    assert engine.leaves[0] == "The server hands over each request at once and alone. vllm batches by itself."
    assert engine.leaves[1].startswith("The model is decoupled:")
    assert told("dynamic_batching { }").leaves[-1] != engine.leaves[1]


def test_a_long_name_is_shortened() -> None:
    """The summary is one line that can be read."""
    assert len(told("", f'name: "{"x" * 5000}"').summary) < 400


def test_passive_instances_execute_nothing() -> None:
    """If all instances are passive, it explains no scheduler, and does not say that anything is executed."""
    for scheduler in ("", "dynamic_batching { }", "sequence_batching { }"):
        found = told(f"{scheduler} instance_group {{ kind: KIND_CPU passive: true }}")
        assert found.leaves[-1].endswith("a passive instance serves nothing. No request is answered.")
        assert (found.waits, found.refused) == ((), ())


def test_a_timeout_of_its_own_delays_too() -> None:
    """The action says what happens when a timeout is over, and not whose timeout."""
    policy = "timeout_action: DELAY default_timeout_microseconds: 7000 allow_timeout_override: true"
    found = told(f"dynamic_batching {{ default_queue_policy {{ {policy} }} }}")
    words = "After 7 ms, or after a shorter timeout of its own, a request goes behind all others of its level."
    assert found.waits[-1] == words


@pytest.mark.parametrize(
    ("flags", "refused"),
    [
        (("", ""), [f"A request that lacks an input, {STRANGE}", SHAPED]),
        (("optional: true", "optional: true"), [f"A request that {STRANGE}", SHAPED]),
        (
            ("", "optional: true"),
            [
                "A request with no input. The server only counts: an optional input makes up for one that is missing.",
                f"A request that {STRANGE}",
                SHAPED,
            ],
        ),
    ],
)
def test_the_server_counts_the_inputs_of_a_request(flags: tuple[str, str], refused: list[str]) -> None:
    """Where an input is optional, a request that lacks another one may be served."""
    inputs = " ".join(f'input {{ name: "{i}" data_type: TYPE_FP32 dims: 4 {flag} }}' for i, flag in enumerate(flags))
    assert list(told(f"dynamic_batching {{ }} {inputs}").refused[1:]) == refused
