"""Laws: what holds for every configuration and every traffic, on combinations of features and in long campaigns."""

import pytest


@pytest.mark.rule("DB-LAW-001")
def test_executed_once(combinations):
    """An answered request is executed once and a refused one never, whatever features are combined"""
    combinations.judge()


@pytest.mark.rule("DB-LAW-002")
def test_within_size(combinations):
    """No batch holds more rows than max_batch_size, whatever features are combined"""
    combinations.judge()


@pytest.mark.rule("DB-LAW-003")
def test_own_result(combinations):
    """Every answer carries the result of its own request, whatever features are combined"""
    combinations.judge()


@pytest.mark.rule("DB-LAW-004")
def test_settled_with_reason(combinations):
    """Every request is answered, or refused for a reason that it can have, whatever features are combined"""
    combinations.judge()


@pytest.mark.rule("DB-LAW-005")
def test_no_idle_instance(combinations):
    """No instance stays free while a request is due, whatever features are combined"""
    combinations.judge(lambda levels: not with_policy(levels))


@pytest.mark.rule("DB-LAW-006")
def test_no_idle_instance_with_policy(combinations):
    """With a queue policy, too, no instance stays free while a request is due, whatever features are combined"""
    combinations.judge(with_policy)


@pytest.mark.rule("DB-LAW-007")
def test_conserved(combinations):
    """The server counts what was executed and answered, whatever features are combined"""
    combinations.judge()


@pytest.mark.rule("DB-LAW-008")
def test_alike(combinations):
    """The requests of one batch have the same shapes, whatever features are combined"""
    combinations.judge(lambda levels: levels["inputs"] != "one")


@pytest.mark.rule("DB-LAW-009")
def test_explained(campaign):
    """Each decision in long mixed traffic and in the drives of other rules is explained by the claimed semantics"""
    campaign.run()


def with_policy(levels) -> bool:
    """Batches are formed only when an instance is free."""
    return levels["policy"] != "none" or levels["priorities"] != "none"
