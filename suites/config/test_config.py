"""config.pbtxt: what the target says it serves, and what it must refuse."""

import random
import re
import sys
from importlib.resources import files

import pytest

from batchproof.fixtures.driving.script import MS
from batchproof.fixtures.evidence.served_config import ServedConfig
from batchproof.fixtures.evidence.validation import Validation
from batchproof.fixtures.judging.catalogue import select
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.fitting import fitted
from batchproof.targets.protocol import Unsupported

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIG = BatcherConfig(max_batch_size=4, max_queue_delay_ns=5 * MS)
FOLDER = files("batchproof") / "suites" / "config"
SAMPLE = 20  # loading one takes a server up to 2 s; --patience thorough tries them all
LINTED = [rule for rule in select(profile="CONFIG") if not rule.id.startswith("CFG-SERVER")]


def base(name: str) -> str:
    """Return the text of a valid configuration."""
    return (FOLDER / name).read_text(encoding="utf-8")


@pytest.fixture
def served(session):
    """Return the configuration that the target says it serves, alongside the one that it was given."""

    def ask() -> ServedConfig:
        config = fitted(CONFIG, session.info.claims)
        deployment = session.deployment(config)
        if deployment.config_pbtxt is None:
            raise Unsupported("config")
        return ServedConfig(config.facts(), deployment.config_pbtxt(), getattr(deployment.inner, "name", ""))

    return ask


@pytest.mark.models(CONFIG)
@pytest.mark.parametrize("rule", [pytest.param(rule, marks=pytest.mark.rule(rule.id), id=rule.id) for rule in LINTED])
def test_lint(served, judge, rule):
    """The configuration that the target serves keeps each rule about configurations"""
    judge(served())


@pytest.mark.rule("CFG-SERVER-001")
@pytest.mark.models(CONFIG)
def test_served_as_deployed(served, judge):
    """The server reports the batching values that it was given"""
    judge(served())


@pytest.mark.rule("CFG-SERVER-002")
def test_invalid_is_refused(session, judge, seed):
    """The server refuses to load an invalid configuration"""
    validate = session.target.validate
    if validate is None:
        raise Unsupported("validation")
    mutants = tomllib.loads((FOLDER / "mutants.toml").read_text(encoding="utf-8"))
    invalid = [what for what, mutant in mutants.items() if mutant["triton"] == "refuses"]
    chosen = invalid if session.patience.name == "thorough" else random.Random(seed()).sample(invalid, SAMPLE)
    session.measures = {"configurations tried": f"{len(chosen)} of {len(invalid)}"}
    right = base("base.pbtxt")
    judge(Validation("valid base.pbtxt", right, valid=True, answer=validate("classifier", right)))
    for what in chosen:
        text, mutant = base(mutants[what]["base"]), mutants[what]
        name = re.search(r'^name: "(.*)"', text, re.MULTILINE)[1]
        wrong = text.replace(mutant["line"], mutant["wrong"])
        judge(Validation(what, wrong, valid=False, answer=validate(name, wrong)))
