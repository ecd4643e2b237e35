"""Laws of sequences: what holds for both strategies, every configuration and all traffic."""

import pytest


@pytest.mark.rule("SB-LAW-001")
def test_own_state(sequence_combinations):
    """A sequence finds the state that its own earlier requests have left, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-002")
def test_in_order(sequence_combinations):
    """The requests of a sequence run one at a time, in the order they were sent, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-003")
def test_one_place(sequence_combinations):
    """A sequence stays where its state is, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-004")
def test_executed_once(sequence_combinations):
    """An answered request of a sequence is executed once and a refused one never, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-005")
def test_own_answer(sequence_combinations):
    """Every answer is that of its own request and sequence, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-006")
def test_told_the_truth(sequence_combinations):
    """The control inputs tell the model which request it has, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-007")
def test_settled_with_reason(sequence_combinations):
    """Every request of a sequence is answered, or refused for a possible reason, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-008")
def test_within_slots(sequence_combinations):
    """No slot has two sequences at a time, and no batch too many requests, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-009")
def test_shared(sequence_combinations):
    """Sequences that wait share the next batch as their strategy says, whatever features are combined"""
    sequence_combinations.judge()


@pytest.mark.rule("SB-LAW-010")
def test_progress(sequence_combinations):
    """No request of a sequence with a slot waits while its instance is free, whatever features are combined"""
    sequence_combinations.judge()
