"""Differential testing: one case on two targets, their timelines compared up to a stated equivalence.

Two timelines are the same when every request has the same fate (answered, or refused for the same kind of reason) and the
batches are the same. With one instance, the batches must hold the same requests in the same order and run in the same
sequence. With several instances, the same batches may run in any sequence. Where a sequence has a place in the batch
(`direct`), the places must be the same. Between simulated targets, the wording of refusals, the times and the counts must be
the same as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.driving import engine_case
from batchproof.fixtures.driving.case import Case, CaseError, run_case
from batchproof.fixtures.driving.covering import gated_case
from batchproof.fixtures.driving.sequence_features import gated_steps_case
from batchproof.fixtures.evidence.timeline import Sent, Timeline
from batchproof.targets.lifecycle import close
from batchproof.targets.protocol import Misuse, TargetError, Unsupported
from batchproof.targets.verbs import FullTarget

MEASURE_AGAIN = 3  # times that a difference between real targets must appear: one that a stalled host causes appears once
PLACED = " in slot "
Batches = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Divergence:
    """The first difference between two timelines: where it is, what each timeline shows there, and of which requests."""

    where: str
    one: str
    other: str
    names: tuple[str, ...] = field(default=(), compare=False)


def divergence(one: Timeline, other: Timeline, *, exact: bool = False) -> Divergence | None:
    """Return the first difference between two timelines of one case, or None. exact: words, times and counts matter too."""
    left, right = _batches(one), _batches(other)
    for number, (mine, theirs) in enumerate(zip(left, right, strict=False), 1):
        if mine != theirs:
            names = tuple(sorted({name.partition(PLACED)[0] for name in {*mine} ^ {*theirs} or {*mine}}))
            return Divergence(f"batch {number}", _words(mine), _words(theirs), names)
    if len(left) != len(right):
        shared = min(len(left), len(right))
        more = tuple(name.partition(PLACED)[0] for batch in (*left[shared:], *right[shared:]) for name in batch)
        return Divergence("number of batches", str(len(left)), str(len(right)), more)
    for sent in one.requests:
        fates = _fate(one[sent.name], exact=exact), _fate(other[sent.name], exact=exact)
        if fates[0] != fates[1]:
            return Divergence(sent.name, *fates, names=(sent.name,))
    return _inexact(one, other) if exact else None


def _batches(timeline: Timeline) -> Batches:
    placed = (timeline.config.get("sequence") or {}).get("strategy") == "direct"
    batches = tuple(
        tuple(f"{name}{PLACED}{place.slot}" for name, place in zip(timeline.names(run), run.places, strict=True))
        if placed and run.places
        else timeline.names(run)
        for run in timeline.executions
    )
    return batches if timeline.config["instances"] == 1 else tuple(sorted(batches))


def _fate(sent: Sent, *, exact: bool) -> str:
    fate = "answered" if sent.answered else sent.kind or "no answer"
    if not exact:
        return fate
    return f"{fate} {sent.status} {sent.message}".rstrip() if sent.kind else f"{fate}{' with its own result' * sent.echoed}"


def _inexact(one: Timeline, other: Timeline) -> Divergence | None:
    for mine, theirs in zip(one.executions, other.executions, strict=True):
        entered = [(run.enter_ns - timeline.marks["start"]) / 1e6 for run, timeline in ((mine, one), (theirs, other))]
        if entered[0] != entered[1]:
            first, second = (f"entered after {at:.3f} ms" for at in entered)
            return Divergence(_words(one.names(mine)), first, second, one.names(mine))
    for sent in one.requests:
        back = [((t[sent.name].answered_ns or 0) - t.marks["start"]) / 1e6 for t in (one, other)]
        if back[0] != back[1]:
            first, second = (f"came back after {at:.3f} ms" for at in back)
            return Divergence(sent.name, first, second, (sent.name,))
    if one.statistics != other.statistics:
        return Divergence("server counts", str(one.statistics), str(other.statistics))
    return None


def _words(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"


def diff(
    names: Sequence[str], script: Path | None, seed: int, count: int, save: Path, *, sequences: bool = False
) -> ExitStatus:
    """Compare two targets on the case of a file, or on `count` generated ones from this seed; return the exit status."""
    if len(names) != 2:
        return refuse(f"diff compares two targets, and {len(names)} were given: --target reference --target triton")
    try:
        for_engines = engine_case.read(script) if script and engine_case.is_for_engines(script) else None
        given = [Case.read(script)] if script and not for_engines else []
    except CaseError as error:
        return refuse(error)

    def compared(targets: Sequence[FullTarget]) -> ExitStatus:
        engines = [target.engine is not None for target in targets]
        if not any(engines) and not for_engines:
            return _compared(names, targets, given or seeded(seed, count, sequences=sequences), save)
        if not all(engines) or given or sequences:
            return refuse(_mixed(names, engines, script, sequences=sequences))
        from batchproof.commands import diff_engines

        return diff_engines.compare(names, targets, for_engines, seed, count, save)

    return _on(names, compared, save)


def compare(names: Sequence[str], cases: Sequence[Case], save: Path) -> ExitStatus:
    """Run the cases on the two targets until they differ; print what was seen and return the exit status."""
    return _on(names, lambda targets: _compared(names, targets, cases, save), save)


def _on(names: Sequence[str], act: Callable[[Sequence[FullTarget]], ExitStatus], save: Path) -> ExitStatus:
    """Do something with the targets of these names, and close them; say what was in the way."""
    from batchproof.targets import resolve

    targets: list[FullTarget] = []
    try:
        targets += [resolve(name) for name in names]
        return act(targets)
    except Unsupported as error:
        return refuse(f"nothing was compared: one of the targets does not support {error}", ExitStatus.NOTHING)
    except Misuse as error:
        return refuse(error)
    except TargetError as error:
        return refuse(error, ExitStatus.UNAVAILABLE)
    except OSError as error:
        return refuse(f"cannot write the case into {save}: {error.strerror}; choose another --save", ExitStatus.UNAVAILABLE)
    finally:
        for target in targets:
            close(target)


def _compared(names: Sequence[str], targets: Sequence[FullTarget], cases: Sequence[Case], save: Path) -> ExitStatus:
    for number, case in enumerate(cases, 1):
        found = _parted(targets, case)
        if found:
            _report(names, *found, save)
            return ExitStatus.FAILED
        print(f"case {number} of {len(cases)}: the same on both", file=sys.stderr)
    print(f"{len(cases)} case{'s' * (len(cases) != 1)}, the same on {names[0]} and {names[1]}")
    return ExitStatus.FINE


def _mixed(names: Sequence[str], engines: Sequence[bool], script: Path | None, *, sequences: bool) -> str:
    """Say what does not go together."""
    if all(engines):
        what = "--sequences" if sequences else str(script)
        return f"{what} is for dynamic batchers, and {names[0]} and {names[1]} are engines with continuous batching"
    if not any(engines):
        return f"{script} is a case for engines with continuous batching, and {names[0]} and {names[1]} are dynamic batchers"
    engine, batcher = (names[engines.index(kind)] for kind in (True, False))
    return f"{engine} is an engine with continuous batching and {batcher} a dynamic batcher: they have no case in common"


def seeded(seed: int, count: int, *, sequences: bool = False) -> list[Case]:
    """Return the cases of these seeds. In each, what leaves depends on the configuration and not on the target's speed."""
    made = gated_steps_case if sequences else gated_case
    return [made(number) for number in range(seed, seed + count)]


def _parted(targets: Sequence[FullTarget], case: Case) -> tuple[Case, Divergence, list[Timeline]] | None:
    """Return the difference in the smallest case that still shows it, or None if the targets agree."""
    simulated = all(target.simulated for target in targets)
    found = _once(targets, case, simulated=simulated)
    if not found:
        return None
    if not simulated:
        again = [_once(targets, case, simulated=False) for _ in range(MEASURE_AGAIN - 1)]
        return (case, *found) if all(again) else None
    from batchproof.fixtures.driving.shrinking import shrunk

    small = shrunk(case, lambda one: _once(targets, one, simulated=True) is not None)
    found = _once(targets, small, simulated=True)
    assert found is not None
    return small, *found


def _once(targets: Sequence[FullTarget], case: Case, *, simulated: bool) -> tuple[Divergence, list[Timeline]] | None:
    lines = [run_case(target, case, count=simulated) for target in targets]
    apart = divergence(*lines, exact=simulated)
    return (apart, lines) if apart else None


def _report(names: Sequence[str], case: Case, apart: Divergence, lines: Sequence[Timeline], save: Path) -> None:
    """Print the first divergence, the two timelines side by side, and the case as a program."""
    import json
    import shutil

    from batchproof.reports.picture import LEGEND, side_by_side

    width = shutil.get_terminal_size((150, 24)).columns
    print(f"DIFFERENT  {apart.where}")
    label = max(map(len, names))
    print(f"  {names[0]:<{label}}  {apart.one}\n  {names[1]:<{label}}  {apart.other}\n")
    print(f"  config    {json.dumps(case.config.facts())}\n")
    print(side_by_side([(name, line.to_json()) for name, line in zip(names, lines, strict=True)], width))
    print(f"\n{LEGEND}")
    save.mkdir(parents=True, exist_ok=True)
    (save / "case.json").write_text(json.dumps(case.to_json(), indent=2), encoding="utf-8")
    (save / "case.py").write_text(case.python(names[0]), encoding="utf-8")
    both = " ".join(f"--target {name}" for name in names)
    again = f"batchproof diff {both} --script {save / 'case.json'}"
    (save / "diff.html").write_text(_page(names, case, apart, lines, again), encoding="utf-8")
    print(f"\nagain     {again}")
    print(f"          python {save / 'case.py'}   # the same case, alone on {names[0]}")
    print(f"page      {save / 'diff.html'}")


def _page(names: Sequence[str], case: Case, apart: Divergence, lines: Sequence[Timeline], again: str) -> str:
    """Return the two timelines over one another, with the requests marked at which they differ first."""
    import json

    from batchproof.reports.html.case import to_html

    facts = [(names[0], apart.one), (names[1], apart.other), ("Configuration", json.dumps(case.config.facts()))]
    timelines = [(name, line.to_json()) for name, line in zip(names, lines, strict=True)]
    return to_html(f"DIFFERENT: {apart.where}", facts, timelines, about=apart.names, again=again)
