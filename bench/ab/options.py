"""The options of `batchproof ab`, and the two sides that they describe."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from batchproof.bench.ab.question import BASE, NEW
from batchproof.bench.ab.revision import checked_out
from batchproof.bench.ab.side import Spec
from batchproof.host.awake import kept_awake
from batchproof.host.plain_files import read_plain
from batchproof.load.spread.ask import Wanted as Crewed
from batchproof.load.workload import MS, WORKS, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.errors import ConfigError
from batchproof.targets.protocol import Misuse

# Short, so that a block holds many batches, and long enough that the batcher itself takes a small part of it.
DEVICE = Work("device", "a device that takes 8 ms + 0.5 ms a row", 8 * MS, MS // 2)
AB_WORKS = {DEVICE.name: DEVICE, **WORKS}
FORMS = ("text", "markdown", "json")
LARGEST_FILE = 1 << 20  # bytes of a configuration


@dataclass(frozen=True)
class Wanted:
    """One side, as the command line says it; "" and 0: not given."""

    target: str = ""
    config: Path | None = None
    instances: int = 0
    python: str = ""
    revision: str = ""


@dataclass(frozen=True)
class AbOptions:
    """The options of the command line. margin: a share. load: 0: no latency. form: what is printed, of FORMS."""

    base: Wanted = field(default_factory=Wanted)
    new: Wanted = field(default_factory=Wanted)
    margin: float = 0.05
    seconds: float = 60.0
    load: float = 0.0
    work: str = DEVICE.name
    setup: str = ""
    report: Path | None = None
    seed: int = 1729
    form: str = "text"
    crew: Crewed = field(default_factory=Crewed)

    def checked(self) -> Work:
        """Return the model under load; Misuse says which option makes no sense."""
        if self.work not in AB_WORKS:
            raise Misuse(f"--work {self.work}: choose from {', '.join(AB_WORKS)}")
        if not 0 < self.margin < 1:
            raise Misuse("--fail-if-slower is a share between 0 and 1, or a percentage such as 5%")
        if not 0 <= self.load < 1:
            raise Misuse("--load is a share of the base's capacity, below 1, such as 0.6")
        if self.seconds <= 0:
            raise Misuse("--seconds must be more than 0")
        if self.setup and not (self.base.revision or self.new.revision):
            raise Misuse("--setup goes with --base-rev or --new-rev")
        if self.crew.workers and not self.load:
            raise Misuse("--workers goes with --load: a crew sends open loops, and without --load there are none")
        self.crew.check()
        return AB_WORKS[self.work]

    def command(self) -> str:
        """Return the command that compares them again."""
        words = ["batchproof", "ab"]
        for name, one in ((BASE, self.base), (NEW, self.new)):
            given = {"": one.target, "-config": one.config, "-instances": one.instances, "-python": one.python,
                     "-rev": one.revision}  # fmt: skip
            words += [word for end, value in given.items() if value for word in (f"--{name}{end}", str(value))]
        words += ["--fail-if-slower", f"{100 * self.margin:g}%", "--seconds", f"{self.seconds:g}"]
        more: dict[str, Any] = {
            "--load": self.load and f"{self.load:g}",
            "--work": self.work if self.work != DEVICE.name else "",
            "--setup": self.setup,
            "--seed": self.seed,
            **self.crew.words(),
        }
        words += [word for option, value in more.items() if value for word in (option, str(value))]
        return shlex.join([*words, *["--awake"] * kept_awake()])


def margin_of(text: str) -> float:
    """Return the share that a text such as `5%` or `0.05` means; Misuse if it means none."""
    number = text.strip().removesuffix("%").strip()
    try:
        share = float(number) / (100 if "%" in text else 1)
    except ValueError:
        raise Misuse(f"--fail-if-slower {text}: write a percentage such as 5%, or a share such as 0.05") from None
    if not 0 < share < 1:
        hint = f" (did you mean {number}%?)" if "%" not in text and 1 <= share < 100 else ""
        raise Misuse(f"--fail-if-slower {text}: it must be more than 0 and less than 100 %{hint}")
    return share


@contextlib.contextmanager
def specs(options: AbOptions) -> Iterator[tuple[dict[str, Spec], dict[str, str]]]:
    """Yield what each side is, and the commits of their revisions; checkouts are removed at the end. Misuse, TargetError."""
    base = replace(options.base, target=options.base.target or options.new.target or "reference")
    new = replace(options.new, target=options.new.target or base.target)
    with contextlib.ExitStack() as stack:
        found, commits = {}, {BASE: "", NEW: ""}
        for name, one in ((BASE, base), (NEW, new)):
            spec = Spec(name, one.target, _config(name, one.config), one.instances, one.python or sys.executable)
            if one.revision:
                tree = stack.enter_context(checked_out(one.revision, options.setup, python=one.python))
                commits[name] = tree.commit
                spec = replace(spec, python=tree.python, path=tree.path, folder=tree.folder, revision=one.revision)
            found[name] = spec
        yield found, commits


def _config(name: str, path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        raw = read_plain(path, LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise Misuse(f"--{name}-config {path}: larger than {LARGEST_FILE >> 20} MiB, so it is not a configuration")
        return BatcherConfig.from_pbtxt(raw.decode("utf-8")).facts()
    except OSError as error:
        raise Misuse(f"--{name}-config {path}: {error.strerror}") from None
    except (UnicodeDecodeError, ConfigError) as error:
        raise Misuse(f"--{name}-config {path}: {error}") from None
