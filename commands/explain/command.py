"""The verb itself: read the files, explain each, and print text or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from batchproof.commands.explain.plain import completed, guessed
from batchproof.commands.explain.plain import explain as in_words
from batchproof.commands.explain.surprises import surprises
from batchproof.commands.lint.files import Source, sources
from batchproof.commands.lint.formats import visible
from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.checkers.config import HAZARDOUS, INERT, INVALID, Problem, judge
from batchproof.fixtures.judging.pbtxt import parse

FORMAT = 1
MANY, LONGEST = 20, 300
ENDS = "CFG-END-001"  # what ends the whole server
HEADINGS = {
    "leaves": "When a batch leaves",
    "waits": "What a request waits for",
    "refused": "What is refused",
    "no_effect": "What has no effect",
    "surprises": "What surprises",
}


def explain(names: Sequence[str], *, as_json: bool = False) -> ExitStatus:
    """Explain each file. FAILED if the server would refuse one, MISUSE if one cannot be read; the others are explained."""
    status, documents = ExitStatus.FINE, []
    for source in sources(names):
        if source.why:
            status = refuse(f"cannot read {visible(source.path)}: {source.why}")
            continue
        data = {"path": visible(source.path), **_explained(source)}
        if data["invalid"] and status is ExitStatus.FINE:
            status = ExitStatus.FAILED
        if as_json:
            documents.append(data)
        else:
            print("\n".join(_lines(data)))
    if as_json:
        print(json.dumps({"format": FORMAT, "configurations": documents}, indent=1))
    return status


def _explained(source: Source) -> dict[str, Any]:
    """Return everything about a file as JSON data. What the server refuses has no behaviour to explain."""
    judged = judge(source.text, folder=source.folder, beside=source.beside, called=source.called)
    problems = [one for one in judged.problems if rules()[one.rule].level != "MAY"]
    invalid = [f"{_said(one)}; instead: {visible(one.advice)}" for one in problems if one.kind == INVALID][:MANY]
    if invalid:
        ends = any(one.rule == ENDS for one in problems)
        return {"summary": f"Triton refuses this configuration{', or ends with it' * ends}", "invalid": invalid}
    config = parse(source.text).config
    config.name = config.name or source.called
    own = source.beside(config.name)
    config = guessed(config, own)
    words = in_words(config, own)
    known = [{"text": one.text, "source": one.finding} for one in surprises(completed(config))]
    return {
        "summary": visible(words.summary),
        "leaves": list(words.leaves),
        "waits": list(words.waits),
        "refused": list(words.refused),
        "no_effect": [_said(one) for one in problems if one.kind == INERT][:MANY],
        "surprises": known + [{"text": _said(one), "source": one.rule} for one in problems if one.kind == HAZARDOUS][:MANY],
        "invalid": [],
    }


def _said(problem: Problem) -> str:
    return f"{visible(problem.message[:LONGEST])} ({problem.rule}, line {problem.line})"


def _lines(data: dict[str, Any]) -> list[str]:
    lines = [f"{data['path']}: {data['summary']}"]
    lines += [f"  - {one}" for one in data["invalid"]]
    for key, heading in HEADINGS.items():
        if sentences := data.get(key):
            lines.append(f"  {heading}:")
            lines += [f"    - {one if isinstance(one, str) else _with_source(one)}" for one in sentences]
    return lines


def _with_source(one: dict[str, str]) -> str:
    return one["text"] if one["source"] in one["text"] else f"{one['text']} [{one['source']}]"
