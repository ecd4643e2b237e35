"""`batchproof new adapter NAME`: a complete adapter, a stand-in for the batcher behind it, and a test that runs CORE.

The files in `skeleton/` are the source: they run as they are, and docs/adapters.md shows them. The new name
replaces `example` in them.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
SKELETON = ("{}_batcher.py", "{}_adapter.py", "test_{}.py")


def print_new_adapter(name: str, folder: Path) -> ExitStatus:
    """Write the three files, and print what a person has to do next."""
    if not NAME.fullmatch(name):
        return refuse(f"'{name}' cannot be the name of a Python module: use lower-case letters, digits and underscores")
    try:
        written = new_adapter(name, folder)
    except FileExistsError as error:
        return refuse(f"{error.filename} already exists: choose another name or --folder")
    except OSError as error:
        return refuse(f"cannot write {error.filename}: {error.strerror}", ExitStatus.UNAVAILABLE)
    batcher, adapter, test = (path.name for path in written)
    spec = f"{name}_adapter:{_class(name)}"
    where = "" if folder.resolve() == Path.cwd() else f"cd {folder} && "
    print(f"In {folder}: {batcher}, {adapter} and {test}. They run as they are. What is still missing:")
    steps = (
        f"{adapter}: import your batcher instead of {batcher}, and delete {batcher}",
        f"{adapter}, __init__: start it with the witness as its model; size and delay come from `config`",
        f"{adapter}, submit: send the payload; say which Kind each of your errors is",
        f"{adapter}, queued: how many requests are waiting, not counting those in the model",
        f"{adapter}, claims: what your batcher's documentation promises (docs/adapters.md lists the claims)",
        f"{where}batchproof adapter check {spec}: it says which line to mend, and measures claims",
        f"{where}batchproof check --target {spec} --profile CORE, and {where}pytest {test}",
    )
    print("\n".join(f"{number:>3}. {step}" for number, step in enumerate(steps, 1)))
    return ExitStatus.FINE


def new_adapter(name: str, folder: Path) -> list[Path]:
    """Write the skeleton under this name; return the files. FileExistsError, before anything is written, if one exists."""
    paths = [folder / part.format(name) for part in SKELETON]
    for path in paths:
        if path.exists():
            raise FileExistsError(17, "File exists", str(path))
    folder.mkdir(parents=True, exist_ok=True)
    source = files("batchproof.commands.new") / "skeleton"
    for path, part in zip(paths, SKELETON, strict=True):
        text = (source / part.format("example")).read_text(encoding="utf-8")
        path.write_text(re.sub(r"example(?=[_\".:]|$)", name, text).replace("Example", _class(name)), encoding="utf-8")
    return paths


def _class(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
