"""The tables of the laboratory show no figure of an invalid run."""

from __future__ import annotations

from batchproof.bench.peers.tables import as_text, comparison_tables, speed_tables


def test_invalid_figures_are_not_shown() -> None:
    """The row of an invalid run shows the parameters and INVALID, but no figure."""
    row = {"tau_ns": 1, "max_batch": 8, "per_s": 5.0, "limit_per_s": 8.0, "share": 0.6, "valid": False, "reasons": ["noise"]}
    found = {"saturation": [row], "overhead": [], "added": [], "held": [], "torch": [{"skipped": "no torch"}]}

    table = speed_tables(found)[0]

    assert dict(zip(table.heads, table.rows[0], strict=True)) == {
        "tau_ns": 1, "max_batch": 8, "per_s": "INVALID", "limit_per_s": 8.0, "share": "INVALID",
        "share_of_device": "INVALID", "mean_batch": "INVALID", "p99_us": "INVALID",
    }
    assert "| 1 | 8 | INVALID | 8.0 |" in as_text([table])


def test_a_peer_that_was_skipped_has_no_figure() -> None:
    """The row of a skipped peer says so."""
    closed, opened = comparison_tables({"closed": [{"load": "l", "peer": "p", "skipped": "why"}], "open": []})

    assert closed.rows == [["l", "p", "skipped", "skipped", "skipped", "skipped", "skipped"]]
    assert opened.rows == []
