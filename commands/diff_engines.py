"""`batchproof diff` for engines with continuous batching: the same scripts on two engines, iteration by iteration."""

from __future__ import annotations

import json
import random
import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.driving.engine_case import EngineCase, common, run_case
from batchproof.fixtures.driving.engine_script import EngineScript, smaller
from batchproof.fixtures.driving.engine_space import drawn, script_of, sizes_of
from batchproof.fixtures.driving.shrinking import smallest
from batchproof.fixtures.evidence.generations import Generations
from batchproof.fixtures.judging.engine_fit import engine_config
from batchproof.fixtures.judging.iterations import differences
from batchproof.fixtures.judging.iterations.differences import BREACH, LEGAL, MEANINGS, UNCLEAR, UNEXPLAINED, Comparison
from batchproof.host.sentinel import Sentinel
from batchproof.reports.iterations import draw
from batchproof.reports.wording import count, line
from batchproof.targets.claims import value_of
from batchproof.targets.verbs import FullTarget

SHRINK_S, TRIES = 25.0, 300
MANY = (14, 30)  # requests of a case
STATUS: Mapping[str, ExitStatus] = {
    BREACH: ExitStatus.FAILED, UNEXPLAINED: ExitStatus.FAILED, UNCLEAR: ExitStatus.INCONCLUSIVE,
    "legal": ExitStatus.FINE, "same": ExitStatus.FINE,
}  # fmt: skip
GRAVITY = tuple(STATUS)  # the gravest first
Sides = tuple[Generations, Generations]


@dataclass(frozen=True)
class Shown:
    """A case in which two engines differ, and what each did."""

    number: int
    case: EngineCase
    found: Comparison
    sides: Sides


class EngineDiff:
    """Two engines that get the same scripts. specs: as --target has them; names: what a reader sees."""

    def __init__(self, specs: Sequence[str], targets: Sequence[FullTarget], sentinel: Sentinel) -> None:
        names = [target.info.name for target in targets]
        self.specs, self._targets, self._sentinel = tuple(specs), targets, sentinel
        self.names = tuple(names if len(set(names)) == len(names) else specs)

    def compared(self, case: EngineCase) -> tuple[Comparison, Sides]:
        """Play a case on both."""
        one, other = (run_case(target, case, self._sentinel) for target in self._targets)
        return differences.compare(one, other), (one, other)

    def shrunk(self, number: int, case: EngineCase, first: Comparison, sides: Sides) -> Shown:
        """Return the smallest case that shows the same, as far as a few seconds lead."""
        until, last = time.monotonic() + SHRINK_S, Shown(number, case, first, sides)

        def shows(script: EngineScript) -> bool:
            nonlocal last
            if time.monotonic() > until:
                return False
            small = replace(case, script=script)
            found, seen = self.compared(small)
            if same := _alike(found, first):
                last = Shown(number, small, found, seen)
            return same

        smallest(case.script, shows, smaller, TRIES)
        return last


def compare(
    names: Sequence[str], targets: Sequence[FullTarget], given: EngineCase | None, seed: int, many: int, save: Path
) -> ExitStatus:
    """Compare two engines on a case of a file, or on generated ones; Unsupported or TargetError if one cannot be opened."""
    claims = [target.info.claims for target in targets]
    if unknown := [name for name, one in zip(names, claims, strict=True) if value_of(one, "text") == "unknown"]:
        return refuse(f"the language model in {unknown[0]} is not known, so its texts cannot be compared")
    both = common(*claims)
    cases = [given] if given else [generated(number, both) for number in range(seed, seed + many)]
    sentinel = Sentinel().start()
    try:
        return _compared(EngineDiff(names, targets, sentinel), cases, save)
    finally:
        sentinel.stop()


def generated(seed: int, claims: Mapping[str, Any]) -> EngineCase:
    """Return the case of a seed, with what is claimed. Of several samples, the rows cannot be told apart."""
    draw = random.Random(f"case:{seed}")
    levels = {**drawn(draw, claims), "samples": "one"}
    config = engine_config(claims, **sizes_of(levels))
    return EngineCase(config, script_of(levels, draw, config.block_size, draw.choice(MANY)))


def _compared(pair: EngineDiff, cases: Sequence[EngineCase], save: Path) -> ExitStatus:
    """Run the cases until one shows a breach; then say what was seen, with a picture of the gravest difference."""
    words: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    gravest: Shown | None = None
    iterations = 0
    blind = ""
    for number, case in enumerate(cases, 1):
        found, sides = pair.compared(case)
        words[found.word] += 1
        kinds.update(found.kinds)
        iterations += found.alike
        blind = blind or "" if found.seen else "the iterations of one of them are not seen: only texts and ends are compared"
        told = "the same on both" if found.same else f"{found.word}{_of_kinds(found)}"
        print(f"case {number} of {len(cases)}: {told}", file=sys.stderr)
        graver = gravest is None or GRAVITY.index(found.word) < GRAVITY.index(gravest.found.word)
        if not found.same and graver:
            gravest = Shown(number, case, found, sides)
        if STATUS[found.word] is ExitStatus.FAILED:
            break
    if gravest:
        shown = pair.shrunk(gravest.number, gravest.case, gravest.found, gravest.sides)
        _report(pair, shown, save)
    print("\n".join(_summary(pair.names, words, kinds, iterations, blind)))
    return STATUS[next((word for word in GRAVITY if words[word]), "same")]


def _alike(found: Comparison, first: Comparison) -> bool:
    """Return whether a smaller case shows what the first one showed."""
    if first.breaches:
        shown = {(side, wrong.kind) for side, wrong in found.breaches}
        return (first.breaches[0][0], first.breaches[0][1].kind) in shown and bool(found.parted) >= bool(first.parted)
    return found.word == first.word and found.kinds == first.kinds


def _of_kinds(found: Comparison) -> str:
    return f": {', '.join(found.kinds)}" if found.kinds and found.word != found.kinds[0] else ""


def _report(pair: EngineDiff, shown: Shown, save: Path) -> None:
    """Print the first difference, the iterations of both, and how to see it again; write the case and the page."""
    from batchproof.reports.html.case import of_iterations

    found, names = shown.found, pair.names
    mark = found.alike if found.parted else _first_wrong(found)
    about = {one.name for one in (*found.parted, *found.ends)} | {name for _, one in found.breaches for name in one.names}
    facts = list(_facts(names, shown))
    where = f"iteration {found.alike}" if found.parted else "a text or an end" if found.ends else "not from each other"
    print(f"DIFFERENT  {where}: {found.word}  (case {shown.number})")
    for name, text in facts:
        print(f"  {name:<9} {text}")
    width = min(shutil.get_terminal_size((110, 24)).columns, 150)
    for name, side in zip(names, shown.sides, strict=True):
        print(f"\n{name}\n{draw(side.to_json(), width, mark=mark, about=about)}")
    save.mkdir(parents=True, exist_ok=True)
    path = save / "case.json"
    path.write_text(json.dumps(shown.case.to_json(), indent=2), encoding="utf-8")
    both = " ".join(f"--target {shlex.quote(spec)}" for spec in pair.specs)
    again = f"batchproof diff {both} --script {shlex.quote(str(path))}"
    sides = [(name, side.to_json()) for name, side in zip(names, shown.sides, strict=True)]
    page = of_iterations(f"DIFFERENT: {where}: {found.word}", facts, sides, mark=mark, about=about, again=again)
    (save / "diff.html").write_text(page, encoding="utf-8")
    print(f"\nagain     {again}\npage      {save / 'diff.html'}\n")


def _facts(names: Sequence[str], shown: Shown) -> Iterator[tuple[str, str]]:
    """Yield what is known about a difference, as names and values."""
    found = shown.found
    for side, wrong in found.breaches[:4]:
        yield "breach", line(f"{names[side]}, iteration {wrong.at}: {wrong.happened} ({wrong.kind})")
    for one in (*found.parted, *found.ends)[:6]:
        who = f"{one.name}: " if one.name else ""
        yield one.kind, line(f"{who}{names[0]} {one.one}; {names[1]} {one.other}")
    for kind in found.kinds:
        yield "that is", MEANINGS[kind]
    alike = [f"iterations 0 to {found.alike - 1}"] if found.alike else []
    alike += [] if found.ends else ["the texts and ends of all that nobody took back"]
    yield "agreed", " and ".join(alike) or "nothing"
    yield "config", json.dumps(shown.case.config.facts())


def _first_wrong(found: Comparison) -> int | None:
    return min((wrong.at for _, wrong in found.breaches), default=None)


def _summary(
    names: Sequence[str], words: Counter[str], kinds: Counter[str], iterations: int, blind: str
) -> Iterator[str]:
    """Yield what the whole comparison says."""
    total = sum(words.values())
    told = ", ".join(f"{words[word]} {word}" for word in reversed(GRAVITY) if words[word])
    yield f"{count(total, 'case')} on {names[0]} and {names[1]}: {told}; {count(iterations, 'iteration')} alike"
    for kind, times in kinds.most_common():
        yield f"  {times:>4}  {'legal: ' if kind in LEGAL else ''}{kind}: {MEANINGS[kind]}"
    if blind:
        yield f"  {blind}"
