"""Laws: what holds for any models, loads and requests, in random operations on a repository."""

import pytest

from batchproof.fixtures.driving.repository_traffic import repository_campaigns


@pytest.mark.rule("DP-LAW-001")
def test_laws_of_a_repository(serving, judge, claims, seed):
    """Whatever is loaded, reloaded and sent, each request keeps every law of a model repository"""
    for campaign in repository_campaigns(claims, seed()):
        if not judge(campaign.run(serving)).passed:
            return
