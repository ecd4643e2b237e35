"""`batchproof new rule AREA`: the skeleton of a rule in every file that it needs, and what is still missing.

It only adds text: an entry in the catalogue, a test, a checker, two cases of the checker, and a mutant. Each skeleton says
TODO where a person has to decide something, and the project's own tests fail until every TODO is gone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from string import Template

from batchproof import __version__
from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import FAMILIES, Rule, rules
from batchproof.fixtures.judging.checkers import AREAS, checkers

CASES = "suites/selftest/fixtures/judging/cases_*.py"
NEEDED = {  # the names that a skeleton uses, and the modules that they are imported from
    "Send": "batchproof.fixtures.driving.script",
    "BatcherConfig": "batchproof.reference_batcher",
    "Timeline": "batchproof.fixtures.evidence.timeline",
    "Judgement": "batchproof.fixtures.judging.verdicts",
    "vacuous": "batchproof.fixtures.judging.verdicts",
}
ENTRY = Template("""\
[$id]
level = "MUST"
title = "TODO $id: the fact that holds for a conformant batcher, in one line"
source = "TODO: where the claim comes from"
intent = "TODO: why anybody needs it"
evidence = "causal"
needs = []
sight = "witness"
profile = "$profile"
since = "$since"
if_it_fails = ["TODO: what to look at first?"]

""")
TEST = Template('''

@pytest.mark.rule("$id")
def test_todo_$number(drive, judge):
    """TODO $id: the fact that holds for a conformant batcher, in one line"""
    judge(drive(BatcherConfig(max_batch_size=4), (Send("r0"),)))
''')
CHECKER = Template('''

@judges("$id")
def todo_$number(timeline: Timeline) -> Judgement:
    """TODO: which requests matter, and by what names."""
    return vacuous("TODO: what is expected", f"TODO: what was seen of {len(timeline.requests)} requests")
''')
CASE = Template("""\
    ("$id", "TODO: kept", PASS, "TODO", happened(*several("r0"))),
    ("$id", "TODO: broken", FAIL, "TODO", happened(*several("r0"))),
""")
MUTANT = Template("""\
[$area-todo-$number]
what = "TODO: what the wrong line does"
where = "core"
line = "TODO: a line that stands in reference_batcher/core.py exactly once\\n"
wrong = "TODO: the wrong line in its place\\n"
kills = ["$id"]
message = "TODO: what the failure says"

""")


class NewRuleError(Exception):
    """The skeleton cannot be written; the message says what to do."""


@dataclass(frozen=True)
class Written:
    """A file that was changed, the line of the skeleton in it, and what remains to be done there."""

    path: Path
    line: int
    todo: str


def new_rule(area: str, root: Path) -> tuple[str, list[Written]]:
    """Write the skeleton of the next rule of an area (`SIZE` or `DB-SIZE`); return its id and what was written.

    root: a checkout of the project. NewRuleError if it is not one, or if no area has this name.
    """
    last = _last_rule(area)
    if not (root / "suites" / "rules.toml").is_file():
        raise NewRuleError(f"{root} is not a checkout of Batchproof: it has no suites/rules.toml")
    number = int(last.id[-3:]) + 1
    id_ = f"{last.area}-{number:03}"
    module = next(one for one in AREAS if checkers()[last.id].__module__.endswith(f".{one}"))
    words = {
        "id": id_,
        "number": f"{number:03}",
        "profile": last.profile,
        "since": ".".join(__version__.split(".")[:2]),
        "area": module.rpartition(".")[2],
    }
    here = root / "fixtures" / "judging" / "checkers" / Path(*module.split("."))
    family = module.rpartition(".")[0]
    tests = root / "suites" / (family or "conformance")
    own = family in FAMILIES
    catalogue = root / "suites" / (f"{family}/rules.toml" if own else "rules.toml")
    mutants = root / "reference_batcher" / (f"mutants_{family}.toml" if own else "mutants.toml")
    plan: list[tuple[Path, Callable[[str], int], Template, tuple[str, ...], str]] = [
        (catalogue, lambda text: _after_table(text, last.id), ENTRY, (),
         "the title, where the claim comes from, why anybody needs it, what to look at first"),
        (tests / f"test_{words['area']}.py", len, TEST, ("BatcherConfig", "Send"),
         "drive: what arrives when; the docstring is the title"),
        (here.with_suffix(".py"), len, CHECKER, ("Judgement", "Timeline", "vacuous"),
         "judge: a pure function of the evidence"),
        (_cases(root, last.area), lambda text: _after_case(text, last.area), CASE, (),
         "hand-written evidence: at least one case that holds and one that is broken"),
        (mutants, lambda text: _after_mutant(text, last.area), MUTANT, (),
         "a mutant: one wrong line of the reference batcher that this rule notices, and all rules that notice it"),
    ]  # fmt: skip
    return id_, [
        _insert(path, place, skeleton.substitute(words), imports, todo) for path, place, skeleton, imports, todo in plan
    ]


def _last_rule(area: str) -> Rule:
    """Return the last rule of an area, which may be written with or without its prefix."""
    names = list(dict.fromkeys(rule.area for rule in rules().values()))
    meant = (f"{family}{area.upper()}" for family in ("", "DB-", "PERF-", "CFG-", "SB-", "CU-", "DP-"))
    if not (name := next((one for one in meant if one in names), "")):
        there = ", ".join(one for one in names if not one.startswith("CFG-"))
        raise NewRuleError(f"there is no area '{area}': choose one of {there}, or see CONTRIBUTING.md for a new one")
    found = [rule for rule in rules().values() if rule.area == name]
    if found[0].profile == "CONFIG":
        raise NewRuleError("a rule about config.pbtxt has another shape: see CONTRIBUTING.md, 'A rule about config.pbtxt'")
    return found[-1]


def _insert(path: Path, place: Callable[[str], int], text: str, imports: tuple[str, ...], todo: str) -> Written:
    old = path.read_text(encoding="utf-8")
    for name in imports:
        if not re.search(rf"^(from|import) [^#]*\b{name}\b|^    {name},$", old, re.MULTILINE):
            first = re.search(r"^(?:from|import) ", old, re.MULTILINE)
            at = first.start() if first else 0
            old = f"{old[:at]}from {NEEDED[name]} import {name}\n{old[at:]}"
    at = place(old)
    path.write_text(old[:at] + text + old[at:], encoding="utf-8")
    return Written(path, old[:at].count("\n") + 1 + text[: len(text) - len(text.lstrip("\n"))].count("\n"), todo)


def _after_table(text: str, name: str) -> int:
    """Return where the table of this name ends: where the next table, or the comment above it, begins."""
    begin = text.index(f"[{name}]")
    after = re.compile(r"^(\[|# -)", re.MULTILINE).search(text, begin + 1)
    return after.start() if after else len(text)


def _after_mutant(text: str, area: str) -> int:
    """Return the place after the last mutant for a rule of this area, or the end of the file if it has no such mutant."""
    names = re.findall(rf'^\[([^\]]+)\](?:\n(?!\[).*)*?\nkills = \["{re.escape(area)}-', text, re.MULTILINE)
    return _after_table(text, names[-1]) if names else len(text)


def _cases(root: Path, area: str) -> Path:
    """Return the file that has the cases of this area."""
    for path in sorted(root.glob(CASES)):
        if f'    ("{area}-' in path.read_text(encoding="utf-8"):
            return path
    raise NewRuleError(f"no file {CASES} has cases of {area}: add the first ones by hand")


def _after_case(text: str, area: str) -> int:
    """Return the place after the last case of this area in the list CASES."""
    (cases,) = (
        node.value.elts
        for node in ast.parse(text).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.List) and ast.unparse(node.target) == "CASES"
    )
    last = [case for case in cases if ast.unparse(case).startswith(f"('{area}-")][-1]
    return sum(len(line) for line in text.splitlines(keepends=True)[: last.end_lineno])


def print_new_rule(area: str, root: Path) -> ExitStatus:
    """Write the skeleton, and print what a person has to do next."""
    try:
        id_, written = new_rule(area, root)
    except (NewRuleError, OSError) as why:
        return refuse(why)
    steps = [f"{one.path.relative_to(root)}:{one.line}: {one.todo}" for one in written]
    steps += [
        "suites/selftest/frozen_ids.toml: the line that the selftest prints, once the title is settled",
        "the other steps of CONTRIBUTING.md, 'Add a rule': trivial batchers, generated pages, coverage, changelog",
        "pytest suites/selftest/fixtures/judging suites/selftest/reference_batcher/test_mutants.py, until it passes",
    ]
    print("\n".join([f"{id_} has been added. What is still missing:", *(f"{n:>3}. {s}" for n, s in enumerate(steps, 1))]))
    return ExitStatus.FINE
