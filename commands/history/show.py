"""`batchproof history list` and `show`: which runs there are, and one of them whole."""

from __future__ import annotations

import json

from batchproof.commands.history.options import ends, of_commit, short
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports.formats.history import facts
from batchproof.reports.history import HistoryError
from batchproof.reports.history.run import moment
from batchproof.reports.wording import count, line, number

HEADS = ("run", "measured", "commit", "branch", "target", "form", "host", "figures")


@ends
def list_runs(store: str, *, last: int, target: str, branch: str, host: str, as_json: bool) -> ExitStatus:
    """Print the newest runs, a line each."""
    from batchproof.reports.history.queries import Which, counted, heads
    from batchproof.reports.history.store import opened

    which = Which(target=target, branch=branch, host=host)
    with opened(store) as history:
        found, there = heads(history, which, last), counted(history, which)
    if as_json:
        for one in found:
            print(json.dumps({"id": one.id, "figures": one.figures, **one.facts()}))
        return ExitStatus.FINE if found else ExitStatus.NOTHING
    if not found:
        return refuse("the history has no such run", ExitStatus.NOTHING)
    rows = [HEADS, *((str(one.id), moment(one.when), short(one.commit), one.branch, one.target, one.form, one.host,
                      str(one.figures)) for one in found)]  # fmt: skip
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEADS))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    if there > len(found):
        print(f"the newest {len(found)} of {count(there, 'run')}: --last shows more")
    return ExitStatus.FINE


@ends
def show_run(run_id: int, store: str, *, as_json: bool) -> ExitStatus:
    """Print one run with its figures."""
    from batchproof.reports.history.queries import entries
    from batchproof.reports.history.store import opened

    with opened(store) as history:
        found = next(entries(history, ids=[run_id]), None)
    if found is None:
        raise HistoryError(f"there is no run {run_id}: `batchproof history list` shows which there are")
    run = found.run
    if as_json:
        print(json.dumps({"id": found.id, **facts(run)}, indent=2))
        return ExitStatus.FINE
    host = ", ".join(f"{key} {value}" for key, value in run.host.facts.items() if key != "fingerprint")
    commit = of_commit(run.commit).removeprefix("commit ")
    for label, text in (
        ("run", f"{found.id}, {run.kind}"), ("measured", moment(run.when)), ("commit", commit),
        ("target", f"{run.target} {run.version}"), ("form", run.form), ("origin", run.origin),
        ("host", f"{run.host.fingerprint} ({host})"), *run.about.items(),
    ):  # fmt: skip
        print(f"{label:<10} {line(text)}")
    wide = max(len(figure.id) for figure in run.figures)
    for figure in run.figures:
        low, high = ("?" if one is None else number(one) for one in (figure.low, figure.high))
        bounds = "" if low == high == "?" else f"  ({low} to {high})"
        unit = "" if figure.unit == "1" else f" {line(figure.unit)}"
        word = "" if figure.valid else "  INVALID"
        print(f"  {figure.id:<{wide}}  {number(figure.value)}{unit}{bounds}{word}")
    return ExitStatus.FINE
