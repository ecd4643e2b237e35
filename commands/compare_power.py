"""`batchproof lab compare-power`: how many runs a gate against a baseline needs, from comparisons of drawn runs."""

from __future__ import annotations

from batchproof.commands.compare import Usage, share_of
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports.compare.power import SIDES, SPREADS, answers
from batchproof.reports.wording import line, table
from batchproof.stats.change import SAME, SLOWER


def print_power(slower: str, fail_if_slower: str, run_spread: str, comparisons: int, seed: int) -> ExitStatus:
    """Print the shares of SLOWER and SAME for each number of runs and each spread; MISUSE if an option is not a share."""
    try:
        less, margin = share_of(slower, "--slower"), share_of(fail_if_slower, "--fail-if-slower")
        assumed = share_of(run_spread, "--run-spread")
    except Usage as error:
        return refuse(line(error))
    told = f"one run a side assumed to vary by {100 * assumed:g} %"
    print(f"{comparisons} comparisons each, margin {100 * margin:g} %, {told}")
    heads = ("runs of base and new", *(f"runs vary by {100 * spread:g} %" for spread in SPREADS))
    for change in dict.fromkeys((0.0, less)):
        print(f"\ntruly {100 * change:g} % slower: SLOWER / SAME, in per cent\n")
        rows = []
        for sides in SIDES:
            shares = []
            for spread in SPREADS:
                found = answers(
                    sides, spread, change, comparisons=comparisons, margin=margin, run_spread=assumed, seed=seed
                )
                shares.append(" / ".join(f"{100 * found[word] / comparisons:.1f}" for word in (SLOWER, SAME)))
            rows.append((f"{sides[0]} and {sides[1]}", *shares))
        print(table(heads, rows, right=heads[1:]))
    return ExitStatus.FINE
