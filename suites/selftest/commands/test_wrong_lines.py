"""`batchproof mutants --wrong-lines`: who notices what a program has changed."""

from __future__ import annotations

import json

import pytest

from batchproof.commands import wrong_lines
from batchproof.commands.wrong_lines import ENDLESS, Noticed, noticed, print_survey
from batchproof.exit_status import ExitStatus
from batchproof.reference_batcher.mutants import count_of, mutant_of


def number_of(module: str, what: str) -> str:
    """Return the name of the first wrong line of a module of which this is said."""
    names = (f"{module}#{number}" for number in range(1, count_of(module) + 1))
    return next(name for name in names if mutant_of(name).what.partition(": ")[2] == what)


def test_one_that_breaks_something_is_noticed_by_the_rules_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules that take time are not asked then."""
    asked = []

    def judged(target: str, only: str) -> dict[str, str]:
        asked.append((target, only.split(",")))
        return {"DB-LIMIT-001": "expected | actual | "} if "DB-LIMIT-001" in only else {}

    monkeypatch.setattr(wrong_lines, "judged", judged)

    found = noticed("core#5")

    assert found.rules == (("DB-LIMIT-001", "expected | actual | "),)
    assert [target for target, _ in asked] == ["mutant:core#5"]
    assert not any("-LAW-" in rule for rule in asked[0][1])


def test_one_that_no_quick_rule_notices_meets_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only then does it survive."""
    asked = []
    monkeypatch.setattr(wrong_lines, "judged", lambda _target, only: asked.append(only) or {})

    assert noticed("direct#1").rules == ()
    assert ["SB-DRIVE-001" in only for only in asked] == [False, True]
    assert {rule[:3] for only in asked for rule in only.split(",")} == {"SB-"}


def test_one_that_never_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who looks at the table sees why."""

    def endless(*_: str) -> dict[str, str]:
        raise TimeoutError

    monkeypatch.setattr(wrong_lines, "judged", endless)

    assert noticed("core#1").rules == ((ENDLESS, ""),)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_table_has_a_line_for_each(
    as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its name can be given to `check`, and the last line counts those that survive."""
    by = ("DB-SIZE-001", "too large"), ("DB-SIZE-002", "")
    table = Noticed("core#1", "line 60: no", by), Noticed("core#2", "x", ())
    monkeypatch.setattr(wrong_lines, "survey", lambda *_: iter(table))

    status = print_survey(["core"], 2, 1, as_json=as_json)

    out = capsys.readouterr().out
    assert status is ExitStatus.FINE
    if as_json:
        assert [one["name"] for one in json.loads(out)] == ["core#1", "core#2"]
    else:
        assert out.splitlines() == [
            "core#1                     DB-SIZE-001    line 60: no",
            "core#2                     SURVIVES       x",
            "",
            "2 wrong lines: 1 survive",
        ]


def test_an_unknown_module_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The message says which there are."""
    assert print_survey(["cores"], 1, 1) is ExitStatus.MISUSE
    assert "there is no module 'cores': choose from request_queue, " in capsys.readouterr().err


def test_a_real_one_is_noticed() -> None:
    """A queue that forgets its limit breaks rules that need no law."""
    name = number_of("request_queue", "never `limit and len(self._in_time[level]) + len(self._late[level]) >= limit`")

    assert "DB-LIMIT-001" in dict(noticed(name).rules)
