"""`batchproof lab gates`: repeat decisions, and print how often each gate was wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from batchproof.bench.ab.gates.cases import Case
from batchproof.bench.ab.gates.tables import print_tables
from batchproof.bench.ab.gates.trials import Setting, repeat


def print_gates(targets: Sequence[str], percents: Sequence[float], setting: Setting, decisions: int, folder: Path) -> None:
    """Make the decisions that are still missing in the folder, in turns, and print the tables of all that it has."""
    cases = [Case(target, percent) for target in targets for percent in percents]
    for case in cases:
        case.specs()  # ValueError before anything is started
    turns = [repeat(case, setting, decisions, folder) for case in cases]
    while turns:
        for turn in list(turns):
            trial = next(turn, None)
            if trial is None:
                turns.remove(turn)
                continue
            name = f"{trial['target']} {trial['percent']:g} %"
            print(f"{name:16} {trial['answer']:9} {trial['took_s']:5.1f} s, {len(trial['pairs'])} pairs", flush=True)
    print_tables(folder)
