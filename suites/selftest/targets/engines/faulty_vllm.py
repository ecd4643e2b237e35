"""The host program of vLLM, with a fault in the tables of the engine: the configuration says which, under `fault`.

The fault is in what vLLM's attention backend makes of its tables for an iteration, in those with several rows.
"""

from __future__ import annotations

from typing import Any

from engine_host import serve
from vllm.v1.attention.backends.cpu_attn import CPUAttentionMetadataBuilder
from vllm_host import VllmHost

BUILD = CPUAttentionMetadataBuilder.build
OWN = 0  # the block that vLLM keeps to itself


def swapped_tables(tables: Any) -> None:
    """Read the first two rows through each other's blocks."""
    tables.block_table[[0, 1]] = tables.block_table[[1, 0]]


def swapped_rows(tables: Any) -> None:
    """Take the first two rows for each other."""
    swapped_tables(tables)
    tables.seq_lens[[0, 1]] = tables.seq_lens[[1, 0]]


def stale_entry(tables: Any) -> None:
    """Write the last new token of the first row elsewhere, so that its place keeps what it had."""
    tables.slot_mapping[int(tables.query_start_loc[1]) - 1] = OWN


def one_slot_late(tables: Any) -> None:
    """Write every new token one slot behind its own."""
    tables.slot_mapping += 1


def foreign_block(tables: Any) -> None:
    """Read the first row's first block from the second row."""
    tables.block_table[0, 0] = tables.block_table[1, 0]


FAULTS = {made.__name__: made for made in (swapped_tables, swapped_rows, stale_entry, one_slot_late, foreign_block)}


class FaultyHost(VllmHost):
    """vLLM with the fault that its configuration names, or without one."""

    def start(self, config: dict[str, Any]) -> None:
        """Open an engine; its builder gets copies of the tables, so that a fault lasts for one iteration."""
        fault = FAULTS.get(config.pop("fault"))

        def build(builder: Any, *arguments: Any, **named: Any) -> Any:
            tables = BUILD(builder, *arguments, **named)
            if fault and len(tables.seq_lens) > 1:
                for name in ("block_table", "slot_mapping", "seq_lens"):
                    setattr(tables, name, getattr(tables, name).clone())
                fault(tables)
            return tables

        CPUAttentionMetadataBuilder.build = build
        super().start(config)


if __name__ == "__main__":
    serve(FaultyHost())
