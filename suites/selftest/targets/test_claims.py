"""Claims: what a set of them says about what a rule needs, and which are refused."""

from __future__ import annotations

from typing import Any

import pytest

from batchproof.targets.claims import CLAIMS, as_claimed, contradicted, noun_of, problems, unmet, value_of


@pytest.mark.parametrize(
    ("claims", "name", "value"),
    [
        ({}, "delay", False),
        ({"delay": True}, "delay", True),
        ({}, "queue", "shared"),
        ({"queue": "each-instance"}, "queue", "each-instance"),
        ({"rows": True}, "rows", "counted"),
        ({"rows": "split"}, "rows", "split"),
        ({}, "delay_anchor", False),
        ({}, "smallest_batch", 1),
        ({"smallest_delay_ms": 2.5}, "smallest_delay_ms", 2.5),
        ({}, "default_batch", False),
        ({"default_delay_ms": 0}, "default_delay_ms", 0),
    ],
)
def test_a_claim_has_a_value(claims: dict[str, Any], name: str, value: Any) -> None:
    """What is not said has the default, and `true` stands for the usual value where a claim has several."""
    assert value_of(claims, name) == value


@pytest.mark.parametrize(
    ("claims", "needs", "not_met", "ruled_out"),
    [
        ({"delay": True}, ["delay"], None, None),
        ({}, ["delay"], "delay", None),
        ({"delay": False}, ["delay"], "delay", None),
        ({}, ["queue=shared"], None, None),
        ({"queue": "each-instance"}, ["delay", "queue=shared"], "delay", "queue=shared"),
        ({"rows": True}, ["rows=counted"], None, None),
        ({"rows": "requests"}, ["rows"], None, None),
        ({"rows": "requests"}, ["rows=counted"], "rows=counted", "rows=counted"),
        ({}, ["rows=counted"], "rows=counted", None),
        ({}, ["delay_anchor=oldest-enqueue|first-dequeue"], "delay_anchor=oldest-enqueue|first-dequeue", None),
        ({"delay_anchor": "first-dequeue"}, ["delay_anchor=oldest-enqueue|first-dequeue"], None, None),
        ({"delay_anchor": "loop-entry"}, ["delay_anchor=oldest-enqueue"], *["delay_anchor=oldest-enqueue"] * 2),
        ({"late_binding": False}, ["late_binding"], "late_binding", "late_binding"),
        ({"smallest_delay_ms": 5}, ["smallest_delay_ms=0"], "smallest_delay_ms=0", "smallest_delay_ms=0"),
        ({"smallest_delay_ms": 0.0}, ["smallest_delay_ms=0"], None, None),
        ({"default_delay_ms": 0}, ["default_delay_ms"], None, None),
        ({}, ["default_delay_ms"], "default_delay_ms", None),
        ({"default_delay_ms": False}, ["default_delay_ms"], "default_delay_ms", None),
        ({"smallest_batch": 2}, ["smallest_batch=1"], "smallest_batch=1", "smallest_batch=1"),
        ({"instances": True}, ("instances",), None, None),
        ({"instances": "unlimited"}, ("instances",), "instances", "instances"),
    ],
)
def test_a_need_is_met_unmet_or_ruled_out(
    claims: dict[str, Any], needs: list[str], not_met: str | None, ruled_out: str | None
) -> None:
    """A promise that is not made leaves a need unmet; a stack that works in another way rules it out."""
    assert unmet(claims, needs) == not_met
    assert contradicted(claims, needs) == ruled_out


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"delay": True, "smallest_delay_ms": 0.5, "rows": True, "queue": "shared"}, []),
        ({"dellay": True}, ["unknown claim 'dellay': did you mean 'delay'?"]),
        ({"delay": 1}, ["the claim 'delay' is false or true, not 1"]),
        ({"delay": "yes"}, ["the claim 'delay' is false or true, not 'yes'"]),
        ({"smallest_batch": 0}, ["the claim 'smallest_batch' is an integer of 1 or more, not 0"]),
        ({"smallest_batch": True}, ["the claim 'smallest_batch' is an integer of 1 or more, not true"]),
        ({"smallest_batch": 2.5}, ["the claim 'smallest_batch' is an integer of 1 or more, not 2.5"]),
        ({"smallest_delay_ms": float("inf")}, ["the claim 'smallest_delay_ms' is a number of 0 or more, not inf"]),
        ({"default_batch": False, "default_delay_ms": 5}, []),
        ({"default_batch": True}, ["the claim 'default_batch' is false, or an integer of 1 or more, not true"]),
        ({"default_delay_ms": -1}, ["the claim 'default_delay_ms' is false, or a number of 0 or more, not -1"]),
        ({"queue": "global"}, ["the claim 'queue' is shared, each-instance or stealing, not 'global'"]),
        ({"rows": 2}, ["the claim 'rows' is false, counted, split or requests, not 2"]),
        ({"rowz": 1, "torch": 3}, [
            "unknown claim 'rowz': did you mean 'rows'?", "the claim 'torch' is false or true, not 3",
        ]),
    ],
)
def test_what_cannot_be_claimed_is_named(claims: dict[str, Any], said: list[str]) -> None:
    """Each mistake gets a sentence: the nearest name, or the values that there are."""
    assert problems(claims) == said


def test_a_name_like_no_other_gets_the_whole_list() -> None:
    """Where no claim has a similar name, all names are listed."""
    (said,) = problems({"speed": True})

    assert said.startswith("unknown claim 'speed': choose from admission, after_closing, ages, batch_limit, batch_sizes, ")
    assert all(name in said for name in CLAIMS)


def test_a_claim_has_words_for_people() -> None:
    """Messages say what is claimed, and what a stack lacks."""
    assert as_claimed({"queue": "each-instance"}, "queue=shared") == "queue = each-instance"
    assert as_claimed({"smallest_delay_ms": 5}, "smallest_delay_ms=0") == "smallest_delay_ms = 5"
    assert noun_of("delay") == "a queue delay"
    assert noun_of("delay_anchor=oldest-enqueue") == "a delay that counts from the request"
    assert noun_of("GPUs") == "GPUs"


def test_every_default_can_be_claimed() -> None:
    """The table is consistent: each default is one of the values, and each sentence ends in a full stop."""
    for claim in CLAIMS.values():
        assert claim.accepts(claim.default)
        assert claim.says.endswith(".")
        assert not claim.noun.endswith(".")
