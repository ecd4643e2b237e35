"""Peers are compared in turn, by their valid slices."""

from __future__ import annotations

from typing import Any

from batchproof.bench.peers import comparison
from batchproof.bench.peers.adapters import KINDS
from batchproof.bench.peers.comparison import Load
from batchproof.bench.peers.tables import comparison_tables
from batchproof.load.workload import Skipped

TINY = Load("tiny", 1_000_000, 4)


def test_peers_are_compared_in_turn() -> None:
    """Each round runs every peer once. Each peer has a row, which gives the reason if it cannot take part."""
    turns: list[str] = []

    def absent(_load: Load) -> Any:
        raise Skipped("not today")

    both = {"batchproof": comparison.reference, "again": comparison.reference, "absent": absent}
    rows = comparison.in_turn([TINY], both, rounds=2, seconds=0.05, say=turns.append)

    assert [turn.split(": ")[1] for turn in turns] == [
        "batchproof, 1 of 2", "again, 1 of 2", "absent, 1 of 2", "batchproof, 2 of 2", "again, 2 of 2"]
    assert {row["peer"]: row.get("skipped", "") for row in rows} == {"batchproof": "", "again": "", "absent": "not today"}
    assert [row["slices"] for row in rows if "slices" in row] == [2, 2]


def row(per_s: float, *, valid: bool = True) -> dict[str, Any]:
    """Return the figures of a slice."""
    return {"per_s": per_s, "p50_us": 1.0, "p99_us": 2.0, "valid": valid, "reasons": [] if valid else ["noise"]}


def test_only_valid_slices_count() -> None:
    """Medians come from valid slices, and ratios from rounds in which both slices were valid.

    Without one there is no figure.
    """
    first = [row(4000), row(9, valid=False), row(3000)]
    found = {"us": first, "them": [row(1000), row(1), row(1500)], "lost": [row(1, valid=False)] * 3}

    us, them, lost = comparison._summed(TINY, found)

    assert (us["per_s"], us["limit_share"], us["reference_over_it"]) == (3500, 0.875, 1)
    assert them["reference_over_it"] == 3
    assert (lost["valid"], lost["per_s"], lost["reference_over_it"], lost["reasons"]) == (False, None, None, ["noise"])
    closed, _ = comparison_tables({"closed": [lost], "open": []})
    assert dict(zip(closed.heads, closed.rows[0], strict=True))["per_s"] == "INVALID"


def test_every_peer_is_in_the_table() -> None:
    """The table has the reference first, then every in-process peer, and Triton if there is a target."""
    names = list(comparison.everybody(target=object()))

    assert names[0] == "batchproof"
    assert set(names) == {"batchproof", *(one.name for one in KINDS), "triton over gRPC"}
