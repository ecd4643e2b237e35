"""Lines of a report, made by hand for the tests of reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from batchproof.fixtures.evidence import kinds
from batchproof.fixtures.evidence.timeline import Execution, Seen, Sent, Timeline
from batchproof.fixtures.reporter import shown
from batchproof.host.stalls import Stall
from batchproof.reports import Report
from batchproof.reports.formats.schemas import schema
from batchproof.targets.witness.probe import Payload

MS = 1_000_000
SCHEMA = schema("report")
DELAY = "DB-DELAY-004"
HOSTILE = "\x1b[31m<script>alert(1)</script>\x1b[0m | `rm` ``` \u202e\x00 **bold** [x](http://evil)"
CONFIG = {"max_batch_size": 8, "max_queue_delay_ns": 200 * MS, "instances": 1, "queue_timeout_ns": 0}

REARMED = Timeline(
    config=CONFIG,
    requests=tuple(
        Sent(f"r{i}", i, Payload(), sent * MS, 396 * MS, echoed=True, seen=Seen(0, 1, 3, 3, i, 391 * MS, 395 * MS, i))
        for i, sent in enumerate((0, 97, 191))
    ),
    executions=(Execution(0, 1, (0, 1, 2), (1, 1, 1), 391 * MS, 395 * MS),),
    marks={"start": 0, "end": 400 * MS},
    stalls=(Stall(50 * MS, MS),),
)

FAILURE = """\
FAIL  DB-DELAY-004  MUST   The delay is counted from the oldest request     triton 2.51.0  [witness]
  config    max_batch 8  delay 200 ms  instances 1  seed 1729
  expected  the batch with r0 enters the model <= 200 ms after r0 was queued (+2 ms slack, +3 x 0.3
            ms stall)
  actual    391.2 ms
  note      each arrival re-armed the timer
  r0 |q-----------------------------------------------------------------------------------------M=>|
  r1 |                      q-------------------------------------------------------------------M=>|
  r2 |                                            q---------------------------------------------M=>|
      +----------+-----------+----------+-----------+-----------+----------+-----------+-----------
  ms  0          50          100        150         200         250        300         350
  check     does a newcomer restart the timer?
  again     batchproof check --replay bundles/db-delay-004-1729.zip   # judged again, offline
            batchproof check --target triton --rules DB-DELAY-004 --seed 1729"""


def data(timeline: Timeline) -> Any:
    """Return the timeline as a report holds it."""
    return json.loads(json.dumps(timeline.to_json()))


def result(rule: str, verdict: str = "PASS", **fields: Any) -> dict[str, Any]:
    """A result line."""
    line: dict[str, Any] = {"type": "result", "rule": rule, "level": "MUST", "title": f"What {rule} says"}
    line |= {"profile": "CORE", "verdict": verdict, "attempts": 1, "seconds": 0.42, "expected": "8 rows"}
    return line | {"actual": "8 rows", "reason": "", "link": "", "bundle": "", "hints": [], "measures": {}} | fields


RESULTS = [
    result("DB-SIZE-001", measures={"rows in the largest batch": 8, "note": "full"}),
    result("DB-SIZE-002", "SKIPPED", attempts=0, reason="the target does not claim 'preferred'"),
    result("DB-ORDER-001", "NOT_OBSERVABLE", reason="needs sight 'witness'"),
    result("DB-ORDER-002", "OBSERVED", level="MAY", actual="first in, first out"),
    result("DB-DELAY-001", "KNOWN", reason="timer rounds up", link="https://example.org/issues/12"),
    result("DB-DELAY-002", "INCONCLUSIVE", attempts=2),
    result("DB-DELAY-003", "ERROR", actual="VACUOUS: no batch was ever full"),
    result(
        DELAY,
        "FAIL",
        title="The delay is counted from the oldest request",
        expected="the batch with r0 enters the model <= 200 ms after r0 was queued (+2 ms slack, +3 x 0.3 ms stall)",
        actual="391.2 ms",
        bundle="bundles/db-delay-004-1729.zip",
        hints=["does a newcomer restart the timer?"],
    ),
]
COUNTS = {line["verdict"]: 1 for line in RESULTS}
TARGET: dict[str, Any] = {"name": "triton", "version": "2.51.0", "reached": "triton", "contact": "", "sight": "witness"}
TARGET["claims"] = {"delay": True}


def header(**fields: Any) -> dict[str, Any]:
    """A header line."""
    line: dict[str, Any] = {"type": "header", "format": 1, "batchproof": "2026.11.0", "started": "2026-11-21T13:00:00Z"}
    line |= {"target": TARGET, "profile": "CORE", "rules": [line["rule"] for line in RESULTS], "seed": 1729}
    line |= {"must_rules": {"CORE": 7}, "patience": "normal", "host": {"python": "3.11.7", "kernel": "6.8", "cpus": 2}}
    return line | {"command": "batchproof check --target triton"} | fields


def attempt(rule: str, verdict: str, timeline: Timeline | None = None, number: int = 1) -> dict[str, Any]:
    """An attempt line, as `Reporter.attempt` writes it."""
    line: dict[str, Any] = {"type": "attempt", "rule": rule, "attempt": number, "verdict": verdict, "seed": 1729}
    line |= {"expected": "8 rows", "actual": "8 rows", "note": "each arrival re-armed the timer", "seconds": 0.42}
    whole: dict[str, Any] = json.loads(json.dumps(line | {"config": CONFIG, **kinds.to_json(timeline), **shown(timeline)}))
    return whole


def footer(**fields: Any) -> dict[str, Any]:
    """A footer line."""
    line = {"type": "footer", "ended": "2026-11-21T13:01:00Z", "exit_status": 1, "complete": True, "reason": ""}
    return line | {"counts": COUNTS} | fields


ATTEMPTS = [attempt("DB-DELAY-002", "INCONCLUSIVE"), attempt("DB-DELAY-002", "INCONCLUSIVE", number=2)]
ATTEMPTS += [attempt(DELAY, "FAIL", REARMED)]
LINES = [header(), *ATTEMPTS, *RESULTS, footer()]


def write(folder: Path, *lines: Any) -> Path:
    """Write a report of these lines into a folder, and return the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "report.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def one(**fields: Any) -> Report:
    """Return a report of one result."""
    line = result(DELAY, **fields)
    return Report(header(rules=[DELAY]), (), (line,), footer(counts={line["verdict"]: 1}))


def parsed(xml: str) -> ET.Element:
    """Return the root of one of our documents."""
    return ET.fromstring(xml)  # noqa: S314


def fact(rule: str = "DB-SIZE-001", *, holds: bool | str = True, **fields: Any) -> dict[str, Any]:
    """An entry of a table of truth."""
    entry = {"rule": rule, "holds": holds, "versions": "", "evidence": ["source: core.py:12"], "says": "It counts rows."}
    return entry | fields


def truth_table(path: Path, *facts: dict[str, Any]) -> Path:
    """Write a table of these facts, and of others that make it twelve; a field that is None is left out."""
    others = [fact(f"DB-PRIO-{number:03}") for number in range(1, 10)] + [fact(f"DB-LIMIT-{n:03}") for n in (1, 2, 3)]
    entries = (*facts, *others[: max(0, 12 - len(facts))])
    lines = ["\n".join(["[[truth]]", *(f"{name} = {json.dumps(value)}" for name, value in one.items() if value is not None)])
             for one in entries]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return path
