"""The reports of a site: their order, their names, and the names of their folders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchproof.reports import Report
from batchproof.reports.site.entries import entries, slugs
from batchproof.reports.stacks import MixedError
from batchproof.suites.selftest.report_lines import RESULTS, TARGET, footer, header


def report(name: str, version: str, started: str = "2026-11-21T13:00:00Z", **fields: object) -> Report:
    """Return a whole report of this target."""
    target = {**TARGET, "name": name, "version": version}
    return Report(header(target=target, started=started, **fields), (), tuple(RESULTS), footer())


def test_stacks_are_in_order_and_their_versions_too() -> None:
    """By name whatever its case, and by version as versions are compared; what is not a version comes last."""
    given_ = [report("b", "1"), report("a", "nightly"), report("a", "10.0"), report("A", "9.0")]

    found = entries(given_)

    assert [one.name for one in found] == ["A 9.0", "a 10.0", "a nightly", "b 1"]
    assert [one.slug for one in found] == ["a-9.0", "a-10.0", "a-nightly", "b-1"]


def test_one_target_judged_twice_is_two_entries() -> None:
    """The earlier one comes first."""
    found = entries([report("a", "1", f"2026-11-{day}T00:00:00Z") for day in (22, 20)])

    said = [(one.name, one.slug, one.day) for one in found]
    assert said == [("a 1 #1", "a-1-1", "2026-11-20"), ("a 1 #2", "a-1-2", "2026-11-22")]


def test_a_truncated_report_says_so_in_its_name() -> None:
    """Nobody takes it for a whole one."""
    whole = report("a", "1")

    (one,) = entries([Report(whole.header, (), whole.results, None)])

    assert one.name == "a 1 (truncated)"


def test_catalogues_are_not_mixed() -> None:
    """Verdicts of different rules do not compare."""
    with pytest.raises(MixedError, match="different catalogues"):
        entries([report("a", "1"), report("b", "1", batchproof="2026.10.0")])


@given(st.lists(st.text(max_size=80), max_size=5))
def test_a_folders_name_is_safe_and_unique(names: list[str]) -> None:
    """Whatever a target calls itself, its folder is below the site's and no other's."""
    found = slugs(names)

    assert len(set(found)) == len(names)
    assert not [one for one in found if not one.strip(".") or set(one) - set("abcdefghijklmnopqrstuvwxyz0123456789.-")]
    assert all(len(one) < 70 for one in found)


def test_a_verdict_tells_what_is_missing() -> None:
    """`-` for a rule that was not selected, `?` for one without a result."""
    whole = report("a", "1")
    (one,) = entries([Report({**whole.header, "rules": ["DB-SIZE-001", "DB-SIZE-009"]}, (), whole.results[:1], None)])

    assert [one.verdict(rule) for rule in ("DB-SIZE-001", "DB-SIZE-009", "DB-X-001")] == ["PASS", "?", "-"]
