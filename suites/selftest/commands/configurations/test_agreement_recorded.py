"""The linter against 200 configurations of our own making, each with what a Triton was seen to do with it."""

from __future__ import annotations

import random
import shutil
from importlib.util import find_spec

import pytest

from batchproof.commands.configurations.agreement import Servers, judge_one, linted
from batchproof.suites.selftest.commands.configurations.recorded import Recorded, recorded
from batchproof.targets.triton.verdict import ACCEPTED

SAMPLE = 40


def test_there_are_200() -> None:
    """No two are the same, and both verdicts are common."""
    records = recorded()

    assert len({record.config for record in records}) == 200
    assert sum(record.server == ACCEPTED for record in records) >= 50
    assert sum(record.server != ACCEPTED for record in records) >= 50


def test_lint_says_what_the_server_said() -> None:
    """What the server loaded is not invalid, and what it refused is, but for what the record explains."""
    wrong = [
        f"{record}: the server: {record.server} {record.words!r}; lint: {invalid}"
        for record in recorded()
        for invalid in [linted(record.config)[0]]
        if bool(invalid) == (record.server == ACCEPTED) and not record.explained
    ]

    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(
    not (find_spec("pytriton") and shutil.which("cc")), reason="needs the embedded Triton (batchproof[triton]) and cc"
)
@pytest.mark.timeout(300)
def test_the_server_says_what_was_recorded(request: pytest.FixtureRequest) -> None:
    """A sample is loaded again, against the server that is installed."""
    records = [record for record in recorded() if record.server in ("accepted", "refused")]
    servers = Servers()
    request.addfinalizer(servers.close)

    def differing(record: Recorded) -> str:
        said = judge_one(servers, record.base, record.model, record.config).server
        return "" if said.server == record.server else f"{record}: recorded {record.server}, now {said}"

    wrong = [text for record in random.Random(7).sample(records, SAMPLE) if (text := differing(record))]

    assert not wrong, "\n".join(wrong)
