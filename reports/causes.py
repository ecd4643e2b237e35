"""What follows from what: a rule that fails because a more basic one does is reported under that one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from batchproof.reports.formats.jsonl import Line
from batchproof.reports.wording import line


def causes(results: Iterable[Line]) -> dict[str, str]:
    """Return the rules that ended badly because a more basic one did, each with the rule at the root of it.

    `after` of a result names the rules that explain it, and `given` those that explain it if it could not be judged. A rule
    that failed explains others; so does one that could not be judged, if it is explained itself. `given` does not explain a
    failure, and so it is not a link on the way to one. `apart` names those that explain nothing of this result, because
    what they are about did not occur; what follows from them alone explains nothing of it either. Nor does a rule that is
    no MUST explain one that is. Of those that apply, one of the same area is taken, or the first.
    """
    found = {result["rule"]: result for result in results}
    roots = {
        rule: _root(found, rule, frozenset(), apart=frozenset(result.get("apart", ())), unmet=_unmet(result))
        for rule, result in found.items()
        if _failed(result) or _unmet(result)
    }
    return {rule: root for rule, root in roots.items() if root and found[rule]["verdict"] != "KNOWN"}


def followers(results: Iterable[Line]) -> dict[str, list[Line]]:
    """Return the results that follow from others, by the rule at the root, in their own order."""
    results = tuple(results)
    by_root: dict[str, list[Line]] = {}
    explained = causes(results)
    for result in results:
        if root := explained.get(result["rule"]):
            by_root.setdefault(root, []).append(result)
    return by_root


def sentence(result: Line, cause: str) -> str:
    """Return one line about a result that follows from another rule."""
    about = f"{result['verdict']}  {line(result['rule'])}  {line(result['level']):<6} {line(result['title'])}"
    return f"{about}; follows from {line(cause)}"


def _root(found: Mapping[str, Line], rule: str, path: frozenset[str], *, apart: frozenset[str], unmet: bool) -> str:
    """path: the rules on the way here, so that a report with a circle in it does no harm. unmet: none of them has failed."""
    path |= {rule}
    unmet = unmet and _unmet(found[rule])
    explaining = (*found[rule].get("after", ()), *(found[rule].get("given", ()) if unmet else ()))
    for other in sorted(explaining, key=lambda one: _area(one) != _area(rule)):
        if other in path or other in apart or other not in found or _weaker(found[other], found[rule]):
            continue
        failed = _failed(found[other])
        if not failed and not _unmet(found[other]):
            continue
        deeper = _root(found, other, path, apart=apart, unmet=unmet)
        alone = failed and not (apart and not deeper and _root(found, other, path, apart=frozenset(), unmet=unmet))
        if deeper or alone:
            return deeper or str(other)
    return ""


def _weaker(other: Line, result: Line) -> bool:
    """Return whether a rule is owed, and the other one is not: what may be broken does not explain what must not."""
    return bool(result["level"] == "MUST" != other["level"])


def _area(rule: str) -> str:
    """Return the rule's id without its number: `DB-LIVE`."""
    return rule.rpartition("-")[0]


def _failed(result: Line) -> bool:
    return result["verdict"] in ("FAIL", "KNOWN")


def _unmet(result: Line) -> bool:
    """Whether it was driven and could not be judged: its precondition never occurred, or the rig could not prepare it."""
    return result["verdict"] == "ERROR" and bool(result["bundle"]) and not result["reason"]
