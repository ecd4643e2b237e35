"""Law: what holds for a strategy in all traffic."""

import pytest

from batchproof.fixtures.driving.custom_traffic import custom_campaigns


@pytest.mark.rule("CU-LAW-001")
def test_every_law(campaign):
    """Every law of custom batching holds in random traffic, even when hooks raise"""
    campaign.run(custom_campaigns)
