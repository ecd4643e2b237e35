"""The rules about repositories on the stand-in: it keeps all, and each mutant breaks exactly those that it is said to."""

from __future__ import annotations

import inspect
import os
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.patience import Patience
from batchproof.fixtures.judging.session import Session
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.suites.selftest.repository.mutants import mutants, target
from batchproof.targets.repository import Model, WarmUp

SHORT, LONG = Patience("short", 5, 1_500_000_000), Patience("long", 5, 10_000_000_000)
NIGHTLY = os.environ.get("BATCHPROOF_NIGHTLY") == "1"


def serving_tests() -> dict[str, Any]:
    """Return the tests that drive a repository, by their rules."""
    found = {}
    for path in sorted(Path(str(files("batchproof") / "suites" / "deployment")).glob("test_*.py")):
        module = import_module(f"batchproof.suites.deployment.{path.stem}")
        for test in vars(module).values():
            if hasattr(test, "pytestmark") and "serving" in inspect.signature(test).parameters:
                found |= {mark.args[0]: test for mark in test.pytestmark if mark.name == "rule"}
    return {rule: found[rule] for rule in rules() if rule in found}


def judged(session: Session, rule: str) -> tuple[str, str]:
    """Return the verdict and the words of a rule."""
    test = serving_tests()[rule]
    given = {"serving": session.context.serving, "judge": lambda evidence: session.judge(rule, evidence), "seed": lambda: 1}
    given |= {"claims": session.info.claims}

    def body() -> None:
        given["serving"] = session.context.serving
        test(**{name: given[name] for name in inspect.signature(test).parameters})

    outcome = session.run(rules()[rule], body, lambda *_: None)
    return outcome.verdict.name, f"{outcome.judgement.actual} {outcome.judgement.note}"


def killed(name: str, folder: Path, asked: list[str], patience: Patience) -> dict[str, str]:
    """Return the rules that a mutant does not keep, and what was said about each."""
    session = Session(target(name, folder), patience, 1)
    try:
        found = {rule: judged(session, rule) for rule in asked}
    finally:
        session.close()
    return {rule: f"{verdict}: {words}" for rule, (verdict, words) in found.items() if verdict != Verdict.PASS.name}


@pytest.mark.parametrize("rule", serving_tests())
def test_the_stand_in_keeps_every_rule(rule: str, tmp_path: Path) -> None:
    """The stand-in is right, so every rule passes."""
    session = Session(target("", tmp_path), LONG, 1)
    try:
        verdict, words = judged(session, rule)
    finally:
        session.close()

    assert (verdict, words) == (Verdict.PASS.name, words)


@pytest.mark.parametrize(
    ("model", "fault"),
    [(Model("a", warm_ups=(WarmUp(fail=True),)), True), (Model("a", broken=(1,)), False), (Model("a"), False)],
    ids=["a warm-up that fails", "a version that is not loaded", "right"],
)
def test_a_warm_up_that_fails_is_a_fault_of_the_rule(model: Model, fault: bool, tmp_path: Path) -> None:
    """It explains the end of a server, so that the rule fails by that."""
    session = Session(target("", tmp_path), LONG, 1)
    try:
        session.context.serving().load(model)
    finally:
        session.close()

    assert session.attempt.broken == fault


@pytest.mark.parametrize("name", mutants())
def test_a_mutant_is_killed_by_the_rules_that_it_names(name: str, tmp_path: Path) -> None:
    """Each mutant breaks exactly these rules, the first with these words: of its areas, and every night of all."""
    mutant = mutants()[name]
    areas = {rules()[rule].area for rule in mutant.kills}
    asked = [rule for rule in serving_tests() if NIGHTLY or rules()[rule].area in areas]
    broken = killed(name, tmp_path, asked, SHORT)
    if sorted(broken) != sorted(mutant.kills):  # a busy host gets more time
        broken = killed(name, tmp_path, asked, LONG)

    assert (sorted(broken), broken) == (sorted(mutant.kills), broken)
    assert mutant.message in broken[mutant.kills[0]]


def test_every_must_of_a_repository_has_a_mutant() -> None:
    """Each rule that drives a repository is killed by a mutant of the stand-in."""
    killed = {rule for mutant in mutants().values() for rule in mutant.kills}

    assert [rule for rule in serving_tests() if rules()[rule].level == "MUST" and rule not in killed] == []
