"""Trials: decisions, kept with all that they were made from. An interrupted laboratory resumes where it stopped."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.bench.ab.duel import Duel, pilot
from batchproof.bench.ab.gates.cases import Case
from batchproof.bench.ab.options import DEVICE
from batchproof.bench.ab.question import BASE, NEW, SATURATED, questions
from batchproof.bench.ab.side import Side, close_all
from batchproof.host import guard
from batchproof.stats.change import worst

SEED = 1729


@dataclass(frozen=True)
class Setting:
    """How a case is decided. busy: processes that compute meanwhile. margin, seconds: as in `ab`."""

    busy: int = 0
    margin: float = 0.05
    seconds: float = 60.0


@contextlib.contextmanager
def computing(processes: int) -> Iterator[None]:
    """Keep this many processes busy; they end with this one."""
    python = [sys.executable, "-S", "-E"]
    command = [*python, guard.__file__, str(os.getpid()), *python, "-c", "while True: pass"]
    started = [subprocess.Popen(command, start_new_session=True) for _ in range(processes)]
    try:
        yield
    finally:
        for one in started:
            one.kill()
        for one in started:
            one.wait()


def decide(case: Case, setting: Setting, seed: int) -> dict[str, Any]:
    """Start both sides, let the gate decide, and end them; return JSON data. TargetError if a side cannot be had."""
    load_before = os.getloadavg()[0]
    sides: dict[str, Side] = {}
    try:
        for name, spec in case.specs().items():
            sides[name] = Side(spec)
            sides[name].begin_serving(DEVICE)
        for side in sides.values():
            side.serving()
        rows = max(side.about["config"]["max_batch_size"] for side in sides.values())
        load = pilot(dict(sides), 1, rows, 0.0)
        duel = Duel(dict(sides), questions(DEVICE.name, 0.0), load, setting.margin, setting.seconds, seed)
        pairs = [pair.facts() for pair in duel.run()]
    finally:
        close_all(list(sides.values()))
    answers = {name: {"answer": one.change, "seconds": round(one.seconds, 1), "pairs": one.ratio.n}
               for name, one in duel.answers.items()}  # fmt: skip
    return {
        "target": case.target,
        "percent": case.percent,
        **vars(setting),
        "seed": seed,
        "load": [round(load_before, 2), round(os.getloadavg()[0], 2)],
        "answer": worst(tuple(one.change for one in duel.answers.values())),
        "answers": answers,
        "looks": list(duel.plans[SATURATED].looks),
        "requests": load.requests,
        "took_s": round(max(one.seconds for one in duel.answers.values()), 1),
        "pairs": [_short(pair) for pair in pairs],
    }


def _short(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a judge needs of a pair: a thousand trials are kept."""
    short: dict[str, Any] = {"first": pair["first"], "at_s": pair["at_s"], "dropped": bool(pair["dropped"])}
    for name in (BASE, NEW):
        block = pair[name]
        values = {key: round(value, 3) for key, value in block["values"].items()}
        short[name] = {**values, "stalled": block["stalled"], "wrong": bool(block["wrong"])}
    return short


def file_of(folder: Path, case: Case, setting: Setting) -> Path:
    """Return the file of a case in a setting."""
    busy = f"-busy{setting.busy}" if setting.busy else ""
    margin = "" if setting.margin == Setting.margin else f"-margin{100 * setting.margin:g}"
    return folder / f"{case.name}{busy}{margin}.jsonl"


def made(path: Path) -> list[dict[str, Any]]:
    """Return the trials of a file; the last line may be half a line, because the laboratory was killed."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().split(b"\n"):
        with contextlib.suppress(ValueError):
            trial = json.loads(line)
            if isinstance(trial, dict) and "pairs" in trial:
                found.append(trial)
    return found


def repeat(case: Case, setting: Setting, decisions: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield new trials until the file of the case has this many. Each is written as soon as it is made."""
    folder.mkdir(parents=True, exist_ok=True)
    path = file_of(folder, case, setting)
    there = len(made(path))
    with computing(setting.busy):
        for number in range(there, decisions):
            trial = decide(case, setting, SEED + 1_000_003 * number)
            with path.open("ab") as file:
                file.write(b"\n" * bool(file.tell() and not _ends_a_line(path)) + json.dumps(trial).encode() + b"\n")
            yield trial


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
