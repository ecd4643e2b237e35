"""Causes under test: which failures follow from others, and how a report shows it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from batchproof.fixtures.judging.catalogue import rules
from batchproof.reports import Report, headline
from batchproof.reports.causes import causes, followers, sentence
from batchproof.reports.documents import to_json, to_junit, to_markdown
from batchproof.suites.selftest.report_lines import HOSTILE, footer, header, parsed, result

SIZE, FULL, ORDER, MISFIT, LEVELS = "DB-SIZE-001", "DB-SIZE-002", "DB-ORDER-001", "DB-ORDER-007", "DB-PRIO-002"
FAILS: dict[str, Any] = {"verdict": "FAIL"}
UNMET: dict[str, Any] = {"verdict": "ERROR", "actual": "VACUOUS: no batch was full", "bundle": "bundles/one.zip"}
BROKEN: dict[str, Any] = {"verdict": "ERROR", "actual": "the rig broke"}
STALE: dict[str, Any] = {**UNMET, "reason": "the known-issues file says that this fails, but it passes"}


def chain(first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]) -> list[dict[str, Any]]:
    """Return three results of which each explains the next."""
    return [result(SIZE, **first), result(ORDER, **second, after=[SIZE]), result(MISFIT, **third, after=[ORDER])]


@pytest.mark.parametrize(
    ("results", "explained"),
    [
        (chain(FAILS, FAILS, FAILS), {ORDER: SIZE, MISFIT: SIZE}),
        (chain({}, FAILS, FAILS), {MISFIT: ORDER}),
        (chain(FAILS, {}, FAILS), {}),
        (chain(FAILS, UNMET, UNMET), {ORDER: SIZE, MISFIT: SIZE}),
        (chain({}, UNMET, FAILS), {}),
        (chain(FAILS, UNMET, FAILS), {ORDER: SIZE, MISFIT: SIZE}),
        ([result(SIZE, **FAILS), result(ORDER, **UNMET, given=[SIZE]), result(MISFIT, **FAILS, after=[ORDER])],
         {ORDER: SIZE}),
        (chain(BROKEN, FAILS, BROKEN), {}),
        (chain({}, FAILS, STALE), {}),
        (chain({"verdict": "KNOWN"}, FAILS, FAILS), {ORDER: SIZE, MISFIT: SIZE}),
        (chain({}, FAILS, {"verdict": "KNOWN"}), {}),
        (chain({}, FAILS, {"verdict": "INCONCLUSIVE"}), {}),
        ([result(MISFIT, "FAIL", after=["DB-SIZE-009"])], {}),
        ([result(MISFIT, "FAIL")], {}),
    ],
    ids=["through another", "one step", "the link between them holds", "a precondition that never occurred",
         "what could not be judged is not a cause", "but if it is explained itself",
         "what only hides does not explain a failure",
         "a broken rig explains nothing", "a stale entry stands alone",
         "from a known issue", "a known issue needs no cause", "nothing is known", "not selected", "an older report"],
)  # fmt: skip
def test_a_failure_follows_from_a_more_basic_one(results: list[dict[str, Any]], explained: dict[str, str]) -> None:
    """The root of a chain of failures explains all of them; a rule that holds, or was not judged, explains nothing."""
    assert causes(results) == explained
    random.Random(1).shuffle(results)
    assert causes(results) == explained


@pytest.mark.parametrize(
    ("rule", "ended", "cause"),
    [
        ("DB-LIVE-002", UNMET, "DB-SIZE-001"),
        ("DB-LIVE-005", UNMET, "DB-SIZE-001"),
        ("DP-GROUP-002", FAILS, "DB-ORDER-005"),
    ],
    ids=["too few batches", "the same with a policy", "answers wait for a slow instance"],
)
def test_an_obvious_reason_is_in_the_catalogue(rule: str, ended: dict[str, Any], cause: str) -> None:
    """Batches that are too large are too few; answers that are held back come late on every instance."""
    known = rules()[rule]

    assert causes([result(cause, **FAILS), result(rule, **ended, after=known.after, given=known.given)]) == {rule: cause}


def test_what_is_not_owed_explains_nothing_that_is() -> None:
    """A SHOULD that fails does not take the blame for a MUST, which stands alone or follows from another MUST."""
    should = result(SIZE, "FAIL", level="SHOULD")
    law = result(MISFIT, "FAIL", after=[SIZE, ORDER])

    assert causes([should, law]) == {}
    assert causes([should, result(ORDER, "FAIL"), law]) == {MISFIT: ORDER}
    assert causes([should, result(ORDER, "FAIL", level="SHOULD", after=[SIZE])]) == {ORDER: SIZE}


def test_a_cause_of_the_same_area_is_taken_first() -> None:
    """Of two rules that failed, the one about the same thing explains a failure, wherever the catalogue names it."""
    closed, hour, size = "DB-LIVE-004", "DB-LIVE-007", FULL
    results = [result(size, "FAIL"), result(closed, "FAIL"), result(hour, "FAIL", after=[size, closed])]

    assert causes(results) == {hour: closed}
    assert causes([result(size, "FAIL"), result(closed), results[2]]) == {hour: size}


@pytest.mark.parametrize(
    ("first", "second", "explained"),
    [
        (FAILS, UNMET, {ORDER: SIZE}),
        (FAILS, FAILS, {}),
        (UNMET, UNMET, {}),
        (FAILS, BROKEN, {}),
    ],
    ids=["could not be judged", "failed by itself", "neither was judged", "the rig broke"],
)
def test_what_leaves_nothing_to_judge_explains_nothing_else(first: Any, second: Any, explained: dict[str, str]) -> None:
    """A rule that `given` names explains one that could not be judged, and not one that failed."""
    assert causes([result(SIZE, **first), result(ORDER, **second, given=[SIZE])]) == explained


@pytest.mark.parametrize(
    ("first", "explained"),
    [(FAILS, {ORDER: SIZE}), ({}, {MISFIT: ORDER})],
    ids=["what lies between follows from it", "what lies between stands alone"],
)
def test_what_did_not_occur_explains_nothing(first: dict[str, Any], explained: dict[str, str]) -> None:
    """Nor does a rule between the two, if it follows from that alone."""
    results = chain(first, FAILS, {**FAILS, "apart": [SIZE]})
    assert causes(results) == explained
    assert causes([*results[:2], {**results[2], "after": [ORDER, SIZE]}]) == explained
    levels = result(LEVELS, "FAIL")
    others = [results[0], {**results[1], "after": [SIZE, LEVELS]}, results[2], levels]
    assert causes(others)[MISFIT] == LEVELS


def test_two_rules_may_explain_each_other_in_different_ways() -> None:
    """Full batches are too large: that explains others. There are no batches: then the limit cannot be judged."""
    def both(limit: Any, full: Any) -> dict[str, str]:
        return causes([result(SIZE, **limit, given=[FULL]), result(FULL, **full, after=[SIZE])])

    assert (both(FAILS, FAILS), both(UNMET, FAILS)) == ({FULL: SIZE}, {SIZE: FULL})


def test_a_circle_does_no_harm() -> None:
    """A report of another version may have rules that explain each other."""
    results = [result(SIZE, "FAIL", after=[ORDER]), result(ORDER, "FAIL", after=[SIZE])]

    assert set(causes(results)) <= {SIZE, ORDER}


def test_followers_stand_below_their_root() -> None:
    """They come in the order of the report."""
    results = [*chain({}, FAILS, FAILS), result(LEVELS, **UNMET, after=[ORDER])]

    found = {root: [one["rule"] for one in lines] for root, lines in followers(results).items()}

    assert found == {ORDER: [MISFIT, LEVELS]}
    assert sentence(results[2], ORDER) == f"FAIL  {MISFIT}  MUST   What {MISFIT} says; follows from {ORDER}"


def report(*lines: dict[str, Any]) -> Report:
    """Return a report of these results."""
    return Report(header(rules=[line["rule"] for line in lines]), (), lines, footer())


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (chain({}, FAILS, FAILS), "NOT CONFORMANT: 2 of 3 judged MUST rules fail (1 of them follows from another)"),
        (chain(FAILS, FAILS, FAILS), "NOT CONFORMANT: 3 of 3 judged MUST rules fail (2 of them follow from others)"),
        (chain(FAILS, {}, UNMET), "NOT CONFORMANT: 1 of 2 judged MUST rules fails"),
    ],
)
def test_the_headline_says_how_many_follow(lines: list[dict[str, Any]], words: str) -> None:
    """What follows still counts as failed."""
    assert headline(report(*lines)) == words


def test_the_documents_show_what_follows() -> None:
    """summary.md lists it below its cause and has its evidence further down; junit.xml and report.json name the cause."""
    whole = report(*chain({}, {**FAILS, "title": HOSTILE}, {**FAILS, "actual": HOSTILE}))

    text = to_markdown(whole)
    parts = ["## Failures", f"FAIL  {ORDER}", f"| {MISFIT}", "## What follows from other failures", f"FAIL  {MISFIT}",
             f"  follows   from {ORDER}", "## How it was run"]  # fmt: skip
    place = text.index("## Failures")
    places = [place := text.index(part, place) for part in parts]
    (row,) = (line for line in text.splitlines() if line.startswith(f"| {MISFIT}"))
    (case,) = (case for case in parsed(to_junit(whole)).iter("testcase") if case.get("name") == MISFIT)

    assert places == sorted(places)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\| \\`rm" in row
    assert str(case.find("failure").get("message")).startswith(f"follows from {ORDER}: expected")  # type: ignore[union-attr]
    assert {one.get("name"): one.get("value") for one in case.iter("property")}["follows from"] == ORDER
    assert to_json(whole)["follows"] == {MISFIT: ORDER}


def test_what_follows_from_a_known_issue_says_so() -> None:
    """A known issue is not among the failures, so what follows from it has a table of its own."""
    text = to_markdown(report(*chain({}, {"verdict": "KNOWN"}, FAILS)))

    assert f"These follow from the known issue {ORDER}:" in text
