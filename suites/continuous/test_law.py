"""The laws of continuous batching, which hold for every configuration and all traffic."""

import pytest


@pytest.mark.rule("CB-LAW-001")
def test_own_text(engine_combinations):
    """Each request gets the text of its own prompt, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-002")
def test_one_end(engine_combinations):
    """Each request ends once, and for a reason that explains it, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-003")
def test_in_place(engine_combinations):
    """Every entry that is read back is the request's own and in its place, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-004")
def test_limits(engine_combinations):
    """No iteration has more requests or tokens than its limits, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-005")
def test_step_by_step(engine_combinations):
    """Each iteration continues where the last one ended, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-006")
def test_nobody_is_left_out(engine_combinations):
    """Each iteration advances every request that runs, as far as the budget reaches, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-007")
def test_own_blocks(engine_combinations):
    """Two requests share a block only where their tokens are the same, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-008")
def test_joins(engine_combinations):
    """A request joins as soon as there is certainly room for it, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-009")
def test_in_order(engine_combinations):
    """Requests are admitted in order, whatever features are combined"""
    engine_combinations.judge()


@pytest.mark.rule("CB-LAW-010")
def test_every_drive(engine_drives):
    """Long mixed traffic and the drives of all other rules keep every law"""
    engine_drives.judge()
