"""The messages under test: what is written fits its schema, and what is read is held against the other."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from batchproof.reference_batcher import BatcherConfig, QueuePolicy, SequenceBatching, TensorSpec
from batchproof.targets import Kind, Payload, Refused, Request
from batchproof.targets.stdio.messages import (
    FROM,
    TO,
    configuration,
    inference,
    log_line,
    not_carried,
    portable,
    response,
    wrong,
)
from batchproof.targets.witness.probe import VERSION

EXACT = 2**53 - 1
INFO = {"serial": 7, "batch": 1, "instance": 0, "requests": 2, "rows": 3, "position": 1, "enter_ns": "5", "exit_ns": 9}
FULL = BatcherConfig(
    max_batch_size=2, max_queue_delay_ns=1000, instances=3, queue_timeout_ns=4000, max_queue_size=5, priority_levels=2,
    default_priority_level=1, preferred_batch_size=(2,), response_cache=True,
)
SEQUENCES = BatcherConfig(sequence=SequenceBatching("oldest", max_candidate_sequences=3))


@pytest.mark.parametrize(
    "request_",
    [Request("a", 1), Request("b", 2**62, Payload(3, 5, 6, True, 1, 7, nonce=2**62), 2**61), Request("c", 0),
     Request("d", 3, Payload(sequence=2**62, start=True))],
    ids=lambda one: one.name,
)
def test_a_request_fits(request_: Request) -> None:
    """Whatever it asks for, the message fits the schema, and no number in it is too large for JSON."""
    message = {"do": "infer", "id": 1, **inference(request_)}

    assert wrong(message, TO, "infer") == ""
    numbers = [value for row in message["input"] for value in row if isinstance(value, int)]
    assert max(map(abs, numbers)) <= EXACT


def test_of_many_rows_the_first_ones_and_the_last_are_checked() -> None:
    """Two thousand rows would take seconds, in which a busy host makes a request late."""
    message = {"do": "infer", "id": 1, **inference(Request("large", 1, Payload(rows=2048)))}
    rows = message["input"]

    assert wrong(message, TO, "infer") == ""
    assert "input" in wrong({**message, "input": [*rows[:-1], ["no number"]]}, TO, "infer")
    assert "input" in wrong({**message, "input": [["no number"], *rows[1:]]}, TO, "infer")


OWN_POLICY = replace(FULL, priority_queue_policy=((2, QueuePolicy(5000, "DELAY", True, 3)),))


@pytest.mark.parametrize("config", [BatcherConfig(), FULL, replace(FULL, timeout_action="DELAY"), OWN_POLICY, SEQUENCES])
def test_a_configuration_fits(config: BatcherConfig) -> None:
    """The message fits the schema, whatever is asked for."""
    assert wrong({"do": "configure", "id": 2, "config": configuration(config)}, TO, "configure") == ""


def test_a_plain_configuration_is_short() -> None:
    """A feature that is not asked for is not named."""
    asked = {"max_batch_size": 8, "max_queue_delay_ns": 0, "instances": 1, "queue_timeout_ns": 0}

    assert configuration(BatcherConfig()) == asked


def test_a_level_has_its_own_policy() -> None:
    """Nothing of it is left out, so that an adapter need not know the defaults."""
    (policy,) = configuration(OWN_POLICY)["priority_queue_policy"]

    asked = {"queue_timeout_ns": 5000, "timeout_action": "DELAY", "allow_timeout_override": True, "max_queue_size": 3}
    assert policy == {"level": 2, **asked}


def test_every_field_is_carried_or_refused() -> None:
    """No stack is judged by a configuration of which it has not heard."""
    ragged = TensorSpec("EXTRA", "TYPE_INT64", (-1,), optional=True, ragged=True)
    whole = replace(OWN_POLICY, timeout_action="DELAY", queue_timeout_ns=4000, allow_timeout_override=True)
    asked = {one for config in (whole, BatcherConfig(preserve_ordering=True), SEQUENCES) for one in configuration(config)}
    left = {one.name for one in fields(BatcherConfig)} - asked - {"name", "outputs", "backend", "parameters"}

    assert left == {"inputs", "strategy"}
    assert not_carried(BatcherConfig(strategy="volume:96")) == "custom_batching"
    assert not_carried(BatcherConfig(inputs=(ragged,)))
    assert not not_carried(whole)


@pytest.mark.parametrize(("number", "said"), [(EXACT, EXACT), (EXACT + 1, str(EXACT + 1)), (-(2**60), str(-(2**60)))])
def test_a_number_that_json_may_lose_is_a_string(number: int, said: object) -> None:
    """2^53 - 1 is the largest that every language keeps."""
    assert portable(number) == said


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"id": 1, "echo": [[1]], "info": INFO}, ""),
        ({"id": 1, "refused": {"kind": "full", "message": "no room", "status": "UNAVAILABLE"}}, ""),
        ({"id": 1}, "not valid under any of the given schemas"),
        ({"id": 1, "echo": [[1]]}, "'info' is a dependency of 'echo'"),
        ({"id": 1, "echo": [[1.5]], "info": INFO}, "echo.0.0"),
        ({"id": 1, "echo": [["1e3"]], "info": INFO}, "echo.0.0"),
        ({"id": 1, "echo": [[1]], "info": {**INFO, "worker": 1}}, "'worker' was unexpected"),
        ({"id": 1, "refused": {"kind": "tired", "message": ""}}, "refused.kind: 'tired' is not one of"),
        ({"id": 0, "echo": [[1]], "info": INFO}, "id: 0 is less than the minimum of 1"),
    ],
)
def test_an_answer_is_held_against_the_schema(answer: dict[str, object], says: str) -> None:
    """The place and the fault are named; an answer that fits has no fault."""
    found = wrong(answer, FROM, "infer")

    assert says in found
    assert bool(found) == bool(says)


@pytest.mark.parametrize("name", ["mine", "@google-cloud/pubsub", "google.golang.org/api", "com.lmax:disruptor"])
def test_a_stack_has_the_name_that_its_registry_gives_it(name: str) -> None:
    """Registries name packages with scopes, paths and colons."""
    start = {"id": 1, "name": name, "version": "1.0", "claims": {}, "verbs": [], "monotonic": True}

    assert wrong(start, FROM, "start") == ""
    for bad in ("", f" {name}", f"{name}\x1b[2J"):
        assert "name" in wrong({**start, "name": bad}, FROM, "start")


def test_an_answer_becomes_a_response() -> None:
    """Echo and info are int64, a row of info for each row."""
    answer = response({"id": 1, "echo": [["9007199254740993", 2], [3, 4]], "info": INFO}, monotonic=False)

    assert answer.echo.tolist() == [[2**53 + 1, 2], [3, 4]]
    assert answer.info is not None
    assert answer.info.tolist() == [[VERSION, 1, 0, 2, 3, 1, 5, 9, 0, 7]] * 2


def test_a_refusal_becomes_a_refusal() -> None:
    """Kind, message and status are passed on."""
    with pytest.raises(Refused) as caught:
        response({"id": 1, "refused": {"kind": "expired", "message": "late", "status": "UNAVAILABLE"}}, monotonic=True)

    assert (caught.value.kind, caught.value.message, caught.value.status) == (Kind.EXPIRED, "late", "UNAVAILABLE")


def test_a_line_of_the_log_has_integers() -> None:
    """Strings become integers, and the rest stays."""
    line = log_line({"instance": 0, "batch": "1", "enter_ns": "5", "serials": ["9007199254740993"], "rows": [1]})

    assert line == {"instance": 0, "batch": 1, "enter_ns": 5, "serials": [2**53 + 1], "rows": [1]}
    assert log_line({"places": [[0, 1, 0, 1, "9007199254740993", 0]]}) == {"places": [[0, 1, 0, 1, 2**53 + 1, 0]]}


def test_a_result_too_few_is_asked_for_by_name() -> None:
    """An adapter whose witness does not know it hears about it only where a rule asks for it."""
    assert "short" not in inference(Request("a", 1))["ask"]
    assert inference(Request("a", 1, Payload(short=True)))["ask"]["short"] is True


def test_a_request_of_no_sequence_does_not_name_one() -> None:
    """An adapter that does not claim sequences never hears about them."""
    assert "sequence" not in inference(Request("a", 1))["ask"]
    assert inference(Request("a", 1, Payload(sequence=7, end=True)))["ask"] | {"serial": 1} == {
        "serial": 1, "hold": 0, "rows": 1, "work_ns": 0, "row_work_ns": 0, "fail": False, "priority": 0, "timeout_ns": 0,
        "sequence": 7, "start": False, "end": True,
    }  # fmt: skip
