"""The catalogue under test: the laws that every rule keeps, and that rules, checkers, tests and mutants are one list."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.fixtures.catalogue import EVIDENCE, LEVELS, SIGHTS, SelectionError, profiles, rules, select
from batchproof.fixtures.checkers import AREAS, checkers
from batchproof.fixtures.targets.reference import CLAIMS
from batchproof.reference_batcher.mutants import mutants

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SUITES = files("batchproof") / "suites"
FOLDERS = ("conformance", "performance", "config")  # in the catalogue's order
PROFILES = (
    "CORE", "TRITON-DB", "PRIORITY", "QUEUE-POLICY", "CANCEL", "SHAPES", "CACHE", "STATISTICS", "COMBINATIONS",
    "RELIABILITY", "SEQUENCE", "CUSTOM", "PERF", "CONFIG",
)
CAPABILITIES = {*CLAIMS, "faults", "torch", "validation"}
MODALS = re.compile(r"\b(must|should|may|shall)\b", re.IGNORECASE)
SHORT = {"pref": "preferred", "prio": "priority", "stats": "statistics"}  # of an id, and of the files
BY_LIAR = {"CFG-SERVER-002"}  # killed in test_liars.py: no mutant of the reference batcher loads configurations
ONE_SENTENCE_FOR_MANY = "test_lint"  # the parametrized test that drives every rule about a text


def fingerprint(title: str) -> str:
    """Return what stands for a title in frozen_ids.toml."""
    return hashlib.sha256(title.encode()).hexdigest()[:16]


@cache
def driving_tests() -> dict[str, list[Any]]:
    """Return the test functions of each rule, by their marks; in the order of the files and of the tests in them."""
    found: dict[str, list[Any]] = {}
    for folder in FOLDERS:
        names = sorted(path.name for path in (SUITES / folder).iterdir() if re.fullmatch(r"test_\w+\.py", path.name))
        for name in names:
            module = import_module(f"batchproof.suites.{folder}.{name.removesuffix('.py')}")
            for test in (value for key, value in vars(module).items() if key.startswith("test_")):
                for rule in _driven(test):
                    found.setdefault(rule, []).append(test)
    return found


def _driven(test: Any) -> Iterator[str]:
    """The rules in a test's own marks, and in the marks of its parameters."""
    for mark in getattr(test, "pytestmark", []):
        if mark.name == "rule":
            yield mark.args[0]
        elif mark.name == "parametrize":
            yield from (inner.args[0] for case in mark.args[1] for inner in case.marks if inner.name == "rule")


def area_of(function: Any) -> str:
    """Return the last part of the name of the module in which a checker or test stands."""
    return str(function.__module__.rpartition(".")[2].removeprefix("test_"))


def in_order(words: Iterator[str]) -> tuple[str, ...]:
    """Return each word once, at its first place."""
    return tuple(dict.fromkeys(words))


def test_ids_are_unique_and_well_formed() -> None:
    """An id is a family, an area and three digits; it stands once, numbers ascend, and an area is one block."""
    text = (SUITES / "rules.toml").read_text(encoding="utf-8")

    headings = re.findall(r"^\[(.*)\]$", text, re.MULTILINE)
    areas = in_order(rule.area for rule in rules().values())

    assert headings == list(rules())
    assert [id_ for id_ in rules() if not re.fullmatch(r"(DB|PERF|CFG)-[A-Z]+-\d{3}", id_)] == []
    assert list(rules()) == sorted(rules(), key=lambda id_: (areas.index(rules()[id_].area), id_))


def test_ids_are_frozen() -> None:
    """A rule that was published keeps its id and its meaning for ever, and a new rule is frozen with its first commit."""
    frozen = tomllib.loads((HERE / "frozen_ids.toml").read_text(encoding="utf-8"))

    today = {id_: fingerprint(rule.title) for id_, rule in rules().items()}
    gone = [id_ for id_ in frozen if id_ not in today]
    changed = [f'{id_} = "{today[id_]}"' for id_ in frozen if today.get(id_, frozen[id_]) != frozen[id_]]
    new = [f'{id_} = "{today[id_]}"' for id_ in today if id_ not in frozen]

    assert gone == [], "ids are permanent: put these rules back (a rule that no longer holds becomes a MAY, with a reason)"
    assert changed == [], (
        "titles are permanent: take the old title back and give the new fact the next free number; if the title only says "
        "the same in other words, or was never released, put these lines into suites/selftest/frozen_ids.toml"
    )
    assert new == [], "add these lines to suites/selftest/frozen_ids.toml, where the catalogue has them"
    assert list(frozen) == list(today), "suites/selftest/frozen_ids.toml has the catalogue's order"


@pytest.mark.parametrize(
    ("field", "allowed"), [("level", LEVELS), ("evidence", EVIDENCE), ("sight", SIGHTS), ("profile", PROFILES)]
)
def test_words_are_allowed_ones(field: str, allowed: tuple[str, ...]) -> None:
    """Level, evidence, sight and profile are words that the documentation explains."""
    used = {getattr(rule, field): id_ for id_, rule in rules().items()}

    unknown = {word: id_ for word, id_ in used.items() if word not in allowed}

    assert unknown == {}


def test_needs_are_claims_that_somebody_makes() -> None:
    """A rule needs only what a target can claim, with the reference's value where it names one, and nothing twice."""
    needs = {id_: [need.partition("=") for need in rule.needs] for id_, rule in rules().items()}

    unknown = {id_: names for id_, all_ in needs.items() if (names := {name for name, _, _ in all_} - CAPABILITIES)}
    other = {id_: value for id_, all_ in needs.items() for name, _, value in all_ if value and CLAIMS[name] != value}
    twice = [id_ for id_, all_ in needs.items() if len(set(all_)) != len(all_)]

    assert (unknown, other, twice) == ({}, {}, [])


def test_evidence_is_as_strong_as_it_can_be() -> None:
    """Only performance is judged by statistics, every rule has a test, and four of five rules are causal."""
    kinds = Counter(rule.evidence for rule in rules().values())

    statistical = [id_ for id_, rule in rules().items() if rule.evidence == "statistical" and rule.profile != "PERF"]

    assert statistical == []
    assert kinds["untestable"] == 0
    assert kinds["causal"] >= 0.8 * len(rules())


def test_titles_state_facts() -> None:
    """A title says what is so: no modal verb, no full stop, no other rule's title, and it fits on a line."""
    titles = [rule.title for rule in rules().values()]

    modal = [title for title in titles if MODALS.search(title)]
    stopped = [title for title in titles if title != title.strip().rstrip(".")]
    twice = [title for title, count in Counter(titles).items() if count > 1]
    long = [title for title in titles if len(title) > 110]

    assert (modal, stopped, twice, long) == ([], [], [], [])


def test_every_rule_says_why_and_what_to_look_at() -> None:
    """Source, intent and hints are there, and the first release is a CalVer."""
    empty = [id_ for id_, rule in rules().items() if not (rule.source and rule.intent and rule.if_it_fails)]
    stopped = [id_ for id_, rule in rules().items() if rule.intent.endswith(".")]
    undated = [id_ for id_, rule in rules().items() if not re.fullmatch(r"20\d\d\.\d{1,2}", rule.since)]

    assert (empty, stopped, undated) == ([], [], [])


def test_rules_and_checkers_are_one_list() -> None:
    """Every rule has a checker, and every checker a rule."""
    judged = set(checkers())

    assert judged == set(rules())


def test_every_rule_is_driven_once() -> None:
    """Each rule is the mark of exactly one test, and no mark names a rule that does not exist."""
    counts = {rule: len(tests) for rule, tests in driving_tests().items()}

    assert counts == dict.fromkeys(rules(), 1)


def test_docstrings_are_titles() -> None:
    """The docstring of a rule's test is its title, word for word."""
    single = {rule: test for rule, (test,) in driving_tests().items() if test.__name__ != ONE_SENTENCE_FOR_MANY}

    assert {rule: test.__doc__ for rule, test in single.items()} == {rule: rules()[rule].title for rule in single}


def test_areas_are_parallel() -> None:
    """Catalogue, checkers, tests and mutants have the same areas in the same order."""
    catalogue = in_order(rule.area.rpartition("-")[2].lower() for rule in rules().values() if rule.id.startswith("DB-"))

    judging = in_order(area_of(checkers()[rule]) for rule in rules())
    driving = in_order(area_of(driving_tests()[rule][0]) for rule in rules())
    mutating = in_order(area_of(checkers()[mutant.kills[0]]) for mutant in mutants().values())

    assert AREAS == judging == mutating
    assert tuple(SHORT.get(word, word) for word in catalogue) == AREAS[: len(catalogue)]
    assert driving == (*AREAS[:-1], "config")


def test_tests_stand_in_the_catalogues_order() -> None:
    """Within a file of tests the rules follow each other as in the catalogue."""
    driven: dict[str, list[str]] = {}
    for rule, (test,) in driving_tests().items():
        driven.setdefault(area_of(test), []).append(rule)

    assert driven == {area: [rule for rule in rules() if rule in found] for area, found in driven.items()}


def test_every_must_has_a_killer() -> None:
    """Each MUST fails on some mutant, or on a liar, so that its checker is known to say no."""
    config = tomllib.loads((SUITES / "config" / "mutants.toml").read_text(encoding="utf-8"))

    killed = {rule for mutant in mutants().values() for rule in mutant.kills}
    linted = {rule for mutant in config.values() for rule in mutant["kills"]}
    musts = {id_ for id_, rule in rules().items() if rule.level == "MUST"}

    assert musts - killed - linted == BY_LIAR
    assert killed | linted <= set(rules())
    assert {rule for rule in linted if not rule.startswith("CFG-")} == set()


def test_select_keeps_the_catalogues_order() -> None:
    """Patterns choose rules, in the catalogue's order whatever the order of the patterns; none chooses all."""
    chosen = [rule.id for rule in select(["PERF-*", "DB-SIZE-00[12]"])]

    assert chosen[:5] == ["DB-SIZE-001", "DB-SIZE-002", "PERF-SANITY-001", "PERF-SPEEDUP-001", "PERF-MODEL-001"]
    assert {id_.partition("-")[0] for id_ in chosen[2:]} == {"PERF"}
    assert [rule.id for rule in select()] == list(rules())
    assert {rule.profile for rule in select(profile="CORE")} == {"CORE"}


@pytest.mark.parametrize(
    ("patterns", "profile", "message"),
    [
        (["DB-NOTHING-*"], "", "no rule matches 'DB-NOTHING-*'"),
        (["DB-SIZE-001", "db-size-001"], "", "no rule matches 'db-size-001'"),
        (["CFG-*"], "CORE", "no rule matches 'CFG-*' in profile CORE"),
        ([], "NOBODY", "unknown profile 'NOBODY': there are CORE, "),
        ([""], "", "no rule matches ''"),
    ],
    ids=["pattern", "one of two", "pattern in profile", "profile", "empty pattern"],
)
def test_select_refuses_what_matches_nothing(patterns: list[str], profile: str, message: str) -> None:
    """A filter that finds nothing is an error, and the message names it."""
    with pytest.raises(SelectionError) as error:
        select(patterns, profile)

    assert message in str(error.value)
    assert set(profiles()) <= set(PROFILES)
