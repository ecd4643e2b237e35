"""All laws of sequences, on what has a history and on what was driven for something else."""

import pytest


@pytest.mark.rule("SB-DRIVE-001")
def test_every_law(sequence_drives):
    """Each step in long mixed traffic and in the drives of other rules keeps every law of sequences"""
    sequence_drives.judge()
