"""Configurations judged by the server and by the linter, and how often the two agree."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from batchproof.commands.configurations.mutation import applied, as_bytes, mutants
from batchproof.fixtures.judging.checkers.config import INVALID
from batchproof.fixtures.judging.checkers.config import judge as lint
from batchproof.targets.triton.loader import ENDED, REFUSED, RELEASE, SILENT, ConfigurationServer
from batchproof.targets.triton.verdict import ACCEPTED, UNTOLD, Verdict, named, verdict

LONGEST = 1 << 20  # bytes
VERDICTS = (ACCEPTED, REFUSED, ENDED, SILENT, UNTOLD)
SHOWN = 5
_PYTHON = re.compile(rb"\bbackend\s*:\s*[\"']python[\"']")


@dataclass(frozen=True)
class Judged:
    """One configuration: where it is from, the server's verdict, and what the linter calls invalid (rule, message)."""

    path: str
    server: Verdict
    invalid: tuple[tuple[str, str], ...] = ()
    findings: tuple[str, ...] = ()
    spans: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def agrees(self) -> bool | None:
        """Whether the linter calls invalid what the server does not serve; None if the server's verdict is not known."""
        if self.server.server == UNTOLD:
            return None
        return bool(self.invalid) == (self.server.server != ACCEPTED)

    def cause(self) -> str:
        """Return what a disagreement is about, without names and numbers."""
        if self.invalid:
            return "called invalid, and accepted: " + ", ".join(sorted({rule for rule, _ in self.invalid}))
        return f"{self.server.server}, and not called invalid: {_nameless(self.server.words)}"

    def to_json(self) -> dict[str, Any]:
        """Return the record without what is empty; `agrees` is there only where it is not true."""
        data = {
            "path": self.path,
            "server": self.server.server,
            "words": self.server.words,
            "changed": list(self.server.changed),
            "folder_differs": self.server.folder_differs,
            "lint": list(self.findings),
            "agrees": self.agrees,
            "spans": list(self.spans),
        }
        return {key: value for key, value in data.items() if (not value if key == "agrees" else value)}


def linted(config: bytes, called: str = "") -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return what the linter calls invalid (rule, message), and the ids of all that it finds.

    called: the name of the folder, which the server gives to a model that has none.
    """
    problems = lint(config.decode("utf-8", "surrogateescape"), RELEASE, called=called).problems
    invalid = tuple((one.rule, one.message) for one in problems if one.kind == INVALID)
    return invalid, tuple(sorted({one.rule for one in problems}))


def configurations(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path below the folder, content) of each file with .pbtxt in its name."""
    for path in sorted(folder.rglob("*.pbtxt*")):
        if path.is_file() and path.stat().st_size <= LONGEST:
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def model_folder(path: str, config: bytes) -> str:
    """Return the folder of the model: where a config.pbtxt lies, and the model's own name for a file of another name."""
    *above, name = path.split("/")
    return above[-1] if name == "config.pbtxt" and above else named(config) or "model"


@dataclass(frozen=True)
class Servers:
    """A server whose backends are all empty, and one with the real Python backend, which starts when it is asked."""

    empty: ConfigurationServer = field(default_factory=ConfigurationServer)
    python: ConfigurationServer = field(default_factory=lambda: ConfigurationServer(python=True))

    def close(self) -> None:
        """Stop both."""
        self.empty.close()
        self.python.close()


def judge(servers: Servers, files: Iterable[tuple[str, bytes]]) -> Iterator[Judged]:
    """Judge each file by the server and by the linter."""
    for path, config in files:
        yield judge_one(servers, path, model_folder(path, config), config)


def judge_mutants(servers: Servers, files: Iterable[tuple[str, bytes]], count: int, seed: int) -> Iterator[Judged]:
    """Judge this many mutants of each file."""
    for number, (path, config) in enumerate(files):
        text = config.decode("utf-8", "surrogateescape")
        for spans in mutants(text, count, seed + number):
            mutant = as_bytes(applied(text, spans))
            yield judge_one(servers, path, model_folder(path, config), mutant, tuple(map(vars, spans)))


def judge_one(servers: Servers, path: str, folder: str, config: bytes, spans: tuple[Mapping[str, Any], ...] = ()) -> Judged:
    """Judge one file. What only the linter calls invalid is shown to the real backend, if that is Python's."""
    invalid, findings = linted(config, folder)
    said = verdict(servers.empty, folder, config)
    if invalid and said.server == ACCEPTED and _PYTHON.search(config):
        said = verdict(servers.python, folder, config)
        said = replace(said, changed=(*said.changed, "Python's backend"))
    return Judged(path, said, invalid, findings, spans)


def table(judged: Sequence[Judged]) -> str:
    """Return the table of agreement, as Markdown."""
    counted = Counter((one.server.server, bool(one.invalid)) for one in judged)
    lines = ["| the server | lint: invalid | lint: not invalid |", "| --- | ---: | ---: |"]
    lines += [
        f"| {one} | {counted[one, True]} | {counted[one, False]} |"
        for one in VERDICTS
        if counted[one, True] + counted[one, False]
    ]
    told = [one for one in judged if one.agrees is not None]
    return "\n".join([*lines, "", f"They agree on {sum(bool(one.agrees) for one in told)} of {len(told)}."])


def disagreements(judged: Iterable[Judged]) -> str:
    """Return what they disagree on, by cause, the most frequent first."""
    causes: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.agrees is False:
            causes[one.cause()].append(one)
    lines = []
    for cause, found in sorted(causes.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"{len(found)} x {cause}")
        for one in found[:SHOWN]:
            said = one.server.words or "; ".join(f"{rule}: {message}" for rule, message in one.invalid)
            put = "".join(f" (put {span['put']!r} at {span['at']} for {span['cut']})" for span in one.spans)
            lines.append(f"    {one.path}{put}: {said!r}")
    return "\n".join(lines)


def write(judged: Iterable[Judged], path: Path) -> None:
    """Write a line of JSON for each folder that the files' paths begin with: the folder, and its files."""
    lines = []
    for folder, files in groupby(judged, key=lambda one: one.path.partition("/")[0]):
        records = [one.to_json() for one in files]
        for record in records:
            record["path"] = record["path"].partition("/")[2] or record["path"]
        lines.append(json.dumps({"folder": folder, "files": records}, ensure_ascii=True, separators=(",", ":")))
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _nameless(words: str) -> str:
    words = re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "_", words)
    return re.sub(r"(for|model) [\w.-]+$", r"\1 _", words)[:120]
