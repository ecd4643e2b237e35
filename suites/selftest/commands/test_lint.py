"""The config rules under test: every wrong configuration is found by exactly the rules that it names."""

from __future__ import annotations

import sys
from importlib.resources import files
from typing import Any

import pytest

from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.checkers.config import AREAS, CHECKS, HAZARDOUS, INERT, INVALID, PARSE, kind, lint
from batchproof.reference_batcher.config import BatcherConfig, TensorSpec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = files("batchproof").joinpath("suites", "config")
BASES = ("minimal.pbtxt", "base.pbtxt", "ordered.pbtxt", "sequence.pbtxt", "engine.pbtxt", "ensemble.pbtxt")
MUTANTS: dict[str, dict[str, Any]] = tomllib.loads(FOLDER.joinpath("mutants.toml").read_text(encoding="utf-8"))


def base(name: str) -> str:
    """Return the text of a base configuration."""
    return FOLDER.joinpath(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BASES)
def test_base_is_clean(name: str) -> None:
    """A base has no problem, not even with a SHOULD."""
    assert lint(base(name)) == []


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_mutant_is_killed(mutant: dict[str, Any]) -> None:
    """A mutant changes one place, and exactly the rules that it names report it, with the right message."""
    text = base(mutant["base"])
    assert text.count(mutant["line"]) == 1

    problems = lint(text.replace(mutant["line"], mutant["wrong"]))

    assert {problem.rule for problem in problems} == set(mutant["kills"])
    assert any(mutant["message"] in problem.message for problem in problems)
    assert mutant["triton"] in ("refuses", "accepts", "stand-in")


def test_every_rule_has_a_mutant() -> None:
    """Every rule has a mutant, and every mutant names rules that exist."""
    assert {rule for mutant in MUTANTS.values() for rule in mutant["kills"]} == {PARSE, *CHECKS}


def test_every_base_has_a_mutant() -> None:
    """Every base is used by a mutant."""
    assert {mutant["base"] for mutant in MUTANTS.values()} == set(BASES)


def test_rule_ids_are_unique() -> None:
    """No two areas share a rule id, and no two rules share a checker."""
    assert sum(len(area) for area in AREAS) == len(CHECKS) == len(set(CHECKS.values()))
    assert PARSE not in CHECKS


def test_checkers_and_catalogue_agree() -> None:
    """The checkers are the config rules of the catalogue, in the same order, and their docstrings are the rules' titles."""
    catalogue = {rule.id: rule.title for rule in rules().values() if rule.profile == "CONFIG" and rule.area != "CFG-SERVER"}
    assert list(catalogue) == [PARSE, *CHECKS]
    assert {rule: f"{catalogue[rule]}." for rule in CHECKS} == {rule: check.__doc__ for rule, check in CHECKS.items()}


def test_only_what_the_server_refuses_is_invalid() -> None:
    """A rule is a MUST exactly if one of its mutants was refused, and another rule has one tag that says what it finds."""
    refused = {rule for mutant in MUTANTS.values() if mutant["triton"] != "accepts" for rule in mutant["kills"]}
    musts = {rule for rule in (PARSE, *CHECKS) if rules()[rule].level == "MUST"}
    assert musts <= refused
    assert musts == {rule for rule in (PARSE, *CHECKS) if kind(rule) == INVALID}
    assert {kind(rule) for rule in CHECKS} == {INVALID, INERT, HAZARDOUS}


def test_unparsable_text_has_one_problem() -> None:
    """Text that does not parse is reported once, with the file, the line and the column."""
    (problem,) = lint("max_batch_size: 8\ndynamic_batching { max_delay: 1 }", where="models/a/config.pbtxt")
    assert problem.rule == PARSE
    assert problem.message.startswith("models/a/config.pbtxt: not a model configuration: 2:20")


def test_unknown_enumeration_values_stop_no_checker() -> None:
    """A number that an enumeration lacks does not stop any checker."""
    text = base("sequence.pbtxt").replace("CONTROL_SEQUENCE_READY", "99").replace("TYPE_STRING", "99")
    assert lint(text) == []


def test_written_config_is_clean() -> None:
    """A configuration written by `BatcherConfig` has no problem once it has inputs and outputs."""
    config = BatcherConfig(
        max_queue_delay_ns=2_000_000,
        queue_timeout_ns=500_000_000,
        instances=2,
        inputs=(TensorSpec("IN", "TYPE_INT64", (8,)),),
        outputs=(TensorSpec("OUT", "TYPE_INT64", (8,)), TensorSpec("INFO", "TYPE_INT64", (10,))),
    )
    assert lint(config.to_pbtxt()) == []
