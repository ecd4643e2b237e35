"""Which findings apply to which configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.commands.explain.surprises import FINDINGS, surprises
from batchproof.fixtures.judging.pbtxt import parse

DELAY = "max_queue_delay_microseconds: 1000"
CORRID = "sequence_batching {{ control_input {{ control {{ kind: CONTROL_SEQUENCE_CORRID data_type: {} }} }} }}"
OLDEST = 'backend: "pytorch" max_batch_size: 8 {} sequence_batching {{ oldest {{ {} }} }}'
POLICY = "default_queue_policy { max_queue_size: 9 }"
LIBRARY = 'parameters { key: "TRITON_BATCH_STRATEGY_PATH" value { string_value: "/opt/volume.so" } }'


def found(batching: str, rest: str = "") -> set[str]:
    """Return the findings that apply."""
    config = parse(f'backend: "onnxruntime" max_batch_size: 8 {rest} dynamic_batching {{ {batching} }}').config
    return {one.finding.removeprefix(FINDINGS).removeprefix("f-2026-") for one in surprises(config)}


@pytest.mark.parametrize(
    ("batching", "rest", "expected"),
    [
        ("", "", {"09"}),
        (DELAY, "", {"02", "06", "09", "13", "14"}),
        (DELAY, "instance_group { count: 2 }", {"06", "09", "13", "14"}),
        (DELAY, 'input { name: "A" dims: -1 }', {"02", "09", "13"}),
        (f"{DELAY} preferred_batch_size: 1", "", {"07", "09"}),
        (f"{DELAY} preferred_batch_size: [ 4, 8 ]", "", {"02", "06", "09", "13", "14"}),
        ("preferred_batch_size: 4", "", {"09"}),
        ("preferred_batch_size: [ 4, 8 ]", "", {"07", "09"}),
        (f"preferred_batch_size: [ 4, 8 ] {POLICY}", "", {"03", "09", "12"}),
        (f"{DELAY} {POLICY}", "", {"03", "06", "09", "12", "13"}),
        ("priority_levels: 2 default_priority_level: 1", "", {"03"}),
        ("", 'instance_group { rate_limiter { resources { name: "R" count: 1 } } }', {"09", "25"}),
        (POLICY, "", {"03", "09", "12"}),
        ("priority_queue_policy { key: 1 value { max_queue_size: 9 } }", "", {"09"}),
        ("", LIBRARY, {"09", "17", "19"}),
        (POLICY, LIBRARY, {"03", "09", "12", "19"}),
        (DELAY, LIBRARY, {"02", "06", "09", "13", "14", "17", "18", "19"}),
        ("preserve_ordering: true", "response_cache { enable: true }", {"04", "05", "09"}),
    ],
)
def test_each_finding_has_its_condition(batching: str, rest: str, expected: set[str]) -> None:
    """A finding is told only where the configuration meets what it needs."""
    assert found(batching, rest) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('backend: "python"', {"09", "11"}),
        ('backend: "python" instance_group { count: 3 kind: KIND_CPU }', {"09", "24"}),
        ('backend: "vllm"', set()),
        ('platform: "ensemble" ensemble_scheduling { }', set()),
        ("sequence_batching { }", {"20"}),
        ("sequence_batching { } instance_group { kind: KIND_CPU passive: true }", set()),
        ("sequence_batching { oldest { } control_input { control { kind: CONTROL_SEQUENCE_START } } }", {"20", "30"}),
        (OLDEST.format("", DELAY), {"02", "06", "13", "20", "30"}),
        (OLDEST.format("", f"{DELAY} preferred_batch_size: 4"), {"02", "06", "07", "13", "20", "30"}),
        (OLDEST.format("", f"{DELAY} preferred_batch_size: 8"), {"02", "06", "13", "20", "30"}),
        (OLDEST.format("", f"{DELAY} preferred_batch_size: 4 max_candidate_sequences: 4"), {"02", "06", "13", "20", "30"}),
        (OLDEST.format("", "preferred_batch_size: [ 4, 8 ]"), {"07", "20", "30"}),
        (OLDEST.format("", "preferred_batch_size: [ 4, 8 ] max_candidate_sequences: 5"), {"20", "30"}),
        (OLDEST.format("instance_group { count: 2 }", DELAY), {"02", "06", "13", "20", "30"}),
        (CORRID.format("TYPE_STRING"), {"20", "32"}),
        (CORRID.format("TYPE_UINT64"), {"20", "33"}),
    ],
)
def test_other_schedulers(text: str, expected: set[str]) -> None:
    """Sequences, engines and models without a batcher have findings of their own."""
    assert {one.finding[-2:] for one in surprises(parse(text).config)} == expected


def test_findings_exist() -> None:
    """Every finding that is named is in docs/findings.md, if the checkout has it."""
    page = Path(__file__).parents[4] / "docs" / "findings.md"
    if not page.is_file():
        pytest.skip("docs/ is only in a checkout")
    text = page.read_text(encoding="utf-8")
    batching = f"dynamic_batching {{ {DELAY} }} response_cache {{ enable: true }}"
    config = parse(f'backend: "python" max_batch_size: 8 {batching}').config
    for one in surprises(config):
        assert f"## {one.finding.removeprefix(FINDINGS).upper()}" in text


def test_each_policy_surprises_alike() -> None:
    """What surprises about the default policy surprises about that of a priority, and says of which."""
    policy = "{ timeout_action: DELAY default_timeout_microseconds: 7000 allow_timeout_override: true }"
    for field, whose, where in (
        (f"default_queue_policy {policy}", "", "default_queue_policy"),
        (f"priority_queue_policy {{ key: 2 value {policy} }}", " of priority 2", "its priority_queue_policy"),
    ):
        config = parse(f"max_batch_size: 8 dynamic_batching {{ priority_levels: 2 {field} }}").config
        late = "is not refused: it is served after all others of its level, however late."
        assert [one.text for one in surprises(config) if "model_config.proto" in one.finding] == [
            f"The timeout of a request{whose} only counts if it is shorter than that of {where}.",
            f"A request{whose} whose timeout is over {late}",
        ]
