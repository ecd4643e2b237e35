"""The summary for a pull request, as Markdown: what changed against the base, in five lines and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batchproof.reports.causes import causes
from batchproof.reports.changes import FAILED, Change, Changes, changes, same_catalogue
from batchproof.reports.formats.report import Report
from batchproof.reports.headline import headline, scope
from batchproof.reports.markdown import BAD, warning, word
from batchproof.reports.wording import cell, count, ids_in_words, table

ROWS = 40  # of a table; GitHub cuts a summary off after 1 MiB, and people before that
NAMED = 12  # rules in one line


def to_summary(new: Report, base: Report | None = None, without: str = "") -> str:
    """Return the summary of a report against its base. without: why there is no base, in words."""
    parts = [f"## Batchproof: {cell(new.target)}"]
    if base is None:
        parts += [_lines(_stands(new), cell(without) if without else ""), *warning(new), _failing(new)]
    else:
        found = changes(base, new)
        parts += [_lines(*_five(base, new, found)), *warning(new), _changed(found.changes)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _five(base: Report, new: Report, found: Changes) -> Iterator[str]:
    yield _stands(new)
    yield f"Base: {cell(base.target)} was {cell(headline(base))} ({_judged(base)})."
    yield f"{_broken(found)} {_others(found)}"
    yield f"{_named(found.of('fixed'), 'rule is fixed', 'rules are fixed', 'No rule is fixed')}."
    yield _extent(base, new, found)


def _stands(report: Report) -> str:
    return f"**{cell(headline(report))}** ({cell(scope(report))}, {_judged(report)})"


def _judged(report: Report) -> str:
    return f"judged {cell(str(report.header['started'])[:10])} by Batchproof {cell(report.header['batchproof'])}"


def _broken(found: Changes) -> str:
    new, errors = found.of("new failure"), found.of("new error")
    said = [_named(new, "new failure", "new failures", "No new failure")]
    if follow := sum(bool(one.cause) for one in new):
        said[0] += f" ({follow} of them {'follows from another rule' if follow == 1 else 'follow from other rules'})"
    if errors:
        said.append(_named(errors, "rule cannot be judged any more", "rules cannot be judged any more", ""))
    if found.remaining:
        said.append(f"{count(found.remaining, 'rule')} {'fails' if found.remaining == 1 else 'fail'} as before")
    return f"{'; '.join(said)}."


def _others(found: Changes) -> str:
    said = [
        _named(found.of("new doubt"), "rule is inconclusive now", "rules are inconclusive now", ""),
        _named(found.of("no longer known"), "known issue fails without its entry", "known issues fail without theirs", ""),
        _named(found.of("new known issue"), "new known issue", "new known issues", ""),
    ]
    return f"{'; '.join(filter(None, said))}." if any(said) else ""


def _extent(base: Report, new: Report, found: Changes) -> str:
    gone, come = found.of("not judged any more"), found.of("judged now")
    said = [f"{count(found.both, 'rule')} judged in both"]
    said += [_named(gone, "is not judged any more", "are not judged any more", "")]
    said += [_named(come, "is judged now, and was not before", "are judged now, and were not before", "")]
    text = f"{'; '.join(filter(None, said))}."
    if not same_catalogue(base, new):
        text += " The base was judged by another catalogue of rules, so a change may be the suite's: judge the base again."
    return text


def _named(found: Sequence[Change], one: str, several: str, none: str) -> str:
    """Return `2 new failures: DB-SIZE-001 and DB-SIZE-002`."""
    if not found:
        return none
    named = cell(ids_in_words(change.rule for change in found[:NAMED]))
    more = f", and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{len(found)} {one if len(found) == 1 else several}: {named}{more}"


def _lines(*lines: str) -> str:
    return "\n".join(f"- {one.strip()}" for one in lines if one.strip())


def _changed(found: Sequence[Change]) -> str:
    heads = ("change", "rule", "level", "title", "before", "now")
    rows = [(_change(one), *map(cell, (one.rule, one.level, one.title)), word(one.before), word(one.now)) for one in found]
    return _table(heads, rows) if rows else "No verdict changed."


def _change(one: Change) -> str:
    return f"{one.kind}, follows from {cell(one.cause)}" if one.cause and one.now in FAILED else one.kind


def _failing(report: Report) -> str:
    explained = causes(report.results)
    bad = [one for one in report.results if one["verdict"] in BAD and one["rule"] not in explained]
    rows = [(word(one["verdict"]), *map(cell, (one["rule"], one["level"], one["title"], one["actual"]))) for one in bad]
    return _table(("verdict", "rule", "level", "title", "actual"), rows) if rows else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    left = f"\n\n... and {len(rows) - ROWS} more." if len(rows) > ROWS else ""
    return table(heads, rows[:ROWS]) + left
