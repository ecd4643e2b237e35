"""Judges strangers as any target is judged, and says which rules killed them, rightly or wrongly.

    python -m batchproof.suites.selftest.strangers.exam [NAME ...]

judges them by every rule about batching that their style claims, in about ten minutes on two processors: all batchers if
none is named, all engines for the name `engines`, and all batchers of sequences for the name `sequences`. It prints a table,
and ends with 1 if a right one fails, or if a faulty one survives or is killed by a rule that neither names its fault nor
follows from one that does.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from batchproof.commands.mutants import pool
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.run import results_of
from batchproof.reports.causes import causes
from batchproof.suites.selftest.strangers import adapter
from batchproof.suites.selftest.strangers.engines.adapter import EngineTarget
from batchproof.suites.selftest.strangers.engines.table import ENGINES
from batchproof.suites.selftest.strangers.sequences.adapter import SequenceTarget
from batchproof.suites.selftest.strangers.sequences.table import SEQUENCES
from batchproof.suites.selftest.strangers.table import STRANGERS
from batchproof.targets.claims import unmet

BAD = ("FAIL", "ERROR", "INCONCLUSIVE")
EXAMINED = {**STRANGERS, **ENGINES, **SEQUENCES}
SERIES = {"engines": ENGINES, "sequences": SEQUENCES}
SITTINGS = 6  # on a busy host: what is INCONCLUSIVE is judged again, without the rest, and what has failed is not


@dataclass(frozen=True)
class Verdict:
    """How an exam ended. said: what each rule said that did not pass; follows: rule -> the rule at its root."""

    name: str
    judged: int
    said: dict[str, str]
    follows: dict[str, str]

    @property
    def killed_by(self) -> tuple[str, ...]:
        """The rules that failed, without those that follow from others."""
        return tuple(rule for rule, said in self.said.items() if said.startswith("FAIL") and rule not in self.follows)

    @property
    def wrongly(self) -> tuple[str, ...]:
        """Those of them that do not name its fault, nor anything else that it breaks."""
        stranger = EXAMINED[self.name]
        return tuple(rule for rule in self.killed_by if rule not in (*stranger.kills, *stranger.also))

    @property
    def missing(self) -> tuple[str, ...]:
        """The rules that should have failed, and did not."""
        return tuple(rule for rule in EXAMINED[self.name].kills if not self.said.get(rule, "").startswith("FAIL"))


def judge(name: str, only: Sequence[str] = ()) -> Verdict:
    """Judge a stranger by these rules, or by all about its kind of batching that it claims."""
    other = {**dict.fromkeys(ENGINES, ("CB-", EngineTarget)), **dict.fromkeys(SEQUENCES, ("SB-", SequenceTarget))}
    family, target = other.get(name, ("DB-", adapter.__getattr__))
    info = target(name).info
    claimed = [rule.id for rule in rules().values() if rule.id.startswith(family)
               and (rule.profile == "CORE" or unmet(info.claims, rule.needs) is None)]
    mine = [rule for rule in rules() if rule in (only or claimed)]
    found = {rule: {"verdict": "INCONCLUSIVE"} for rule in mine}
    for _ in range(SITTINGS):
        if open_ := [rule for rule, one in found.items() if one["verdict"] == "INCONCLUSIVE"]:
            sat = results_of(info.reached, "--bp-patience=normal", f"--bp-rules={','.join(open_)}")
            found |= {one["rule"]: one for one in sat}
    results = list(found.values())
    said = {one["rule"]: f"{one['verdict']} {one['actual'] or one['reason']} (wanted: {one.get('expected', '')})"
            for one in results if one["verdict"] in BAD}
    return Verdict(name, len(results), said, {rule: root for rule, root in causes(results).items() if rule in said})


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| stranger | killed by | wrongly killed by | follows from these | not to be judged | judged by |"
    yield "|---|---|---|---|---|---|"
    for one in verdicts:
        rightly = ", ".join(rule for rule in one.killed_by if rule not in one.wrongly)
        none = "-" if one.name.startswith("right-") else "**survives**"
        unjudged = sum(not said.startswith("FAIL") for rule, said in one.said.items() if rule not in one.follows)
        numbers = f"{len(one.follows)} | {unjudged} | {one.judged} rules"
        yield f"| {one.name} | {rightly or none} | {', '.join(one.wrongly) or '-'} | {numbers} |"


def main(names: Sequence[str]) -> int:
    """Judge, print, and return the exit status."""
    with pool() as workers:
        verdicts = []
        for one in workers.map(judge, SERIES.get(" ".join(names), names or STRANGERS)):
            verdicts.append(one)
            print(f"{one.name} ...", *(f"\n    {rule} {said}" for rule, said in one.said.items()), file=sys.stderr)
    print("\n".join(table(verdicts)))
    survived = sum(bool(EXAMINED[one.name].breaks and set(one.wrongly) >= set(one.killed_by)) for one in verdicts)
    wrongly = sum(map(bool, (one.wrongly for one in verdicts)))
    print(f"\n{len(verdicts)} strangers: {survived} survive, {wrongly} are killed by a wrong rule")
    return int(any(one.wrongly or one.missing for one in verdicts) or survived > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
