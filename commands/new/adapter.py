"""`batchproof new adapter NAME`: a complete adapter, a stand-in for the batcher behind it, and a test that runs CORE.

There are five kinds for batchers, by how one is reached, one for batchers of sequences, and one for engines with
continuous batching. The files in `skeleton/` are the source: they run as they are, and docs/adapters.md shows one of them.
The new name replaces `example`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
BATCHER, ADAPTER, SERVER, ENGINE, TEST = "{}_batcher.py", "{}_adapter.py", "{}_server.py", "{}_engine.py", "test_{}.py"
NODE = ("{}_batcher.mjs", "{}_witness.mjs", "{}_adapter.mjs", TEST)
FILES = {"batcher": BATCHER, "adapter": ADAPTER, "server": SERVER, "engine": ENGINE}
IN_PROCESS = (
    "{adapter}: import your batcher instead of {batcher}, and delete {batcher}",
    "{adapter}, __init__: start it with the witness as its model; size and delay come from `config`",
    "{adapter}, submit: send the payload; say which Kind each of your errors is",
)
SERVED = (
    "{server}: make it your own server, with your batcher instead of {batcher}, and delete {batcher}",
    "{server}: run `counted.execute` as its model, and count a request when your batcher has queued it",
    "{adapter}, deploy: what the server is started with, where a request is sent, and when it is ready",
    "{adapter}, __init__: the distributions that the server needs, so that a missing one is named",
)
OF_SEQUENCES = (
    "{adapter}: import your batcher instead of {batcher}, and delete {batcher}",
    "{adapter}, __init__: start it with a `Witness` for each instance; size, strategy and idle time come from `config`",
    "{adapter}, model: tell the witness which place each request has, and what the model is told: START, END, READY, ID",
    "{adapter}, submit: send the payload with its sequence; say which Kind each of your errors is",
)
ON_NODE = (
    "{name}_adapter.mjs: import your batcher instead of {name}_batcher.mjs, and delete {name}_batcher.mjs",
    "{name}_adapter.mjs, deploy: start it with `witness` as its model; size and delay come from `config`",
    "{name}_adapter.mjs, submit, kind: hand the request over; say which kind each of your errors is (docs/adapters.md)",
)
STEPPED = (
    "{adapter}: import your engine instead of {engine}, and delete {engine}",
    "{adapter}, __init__: give it the witness as its language model; its sizes come from `config`",
    "{adapter}, submit, step, abort: your engine's calls; an output has the name of its request, and new tokens only",
)


@dataclass(frozen=True)
class Kind:
    """A way to reach a batcher: its files, each below `skeleton/`, and what a person has to do in them."""

    sources: tuple[str, ...]
    steps: tuple[str, ...]
    profile: str = "CORE"
    target: str = "{name}_adapter:{class_name}"

    def names(self, name: str) -> list[str]:
        """Return the names of the files for a batcher of this name."""
        return [Path(source).name.format(name) for source in self.sources]


KINDS = {
    "in-process": Kind((f"in_process/{BATCHER}", f"in_process/{ADAPTER}", TEST), IN_PROCESS),
    "asyncio": Kind((f"asyncio_loop/{BATCHER}", f"asyncio_loop/{ADAPTER}", TEST), IN_PROCESS),
    "http": Kind((f"in_process/{BATCHER}", f"http_server/{SERVER}", f"http_server/{ADAPTER}", TEST), SERVED),
    "grpc-v2": Kind((f"in_process/{BATCHER}", f"grpc_v2_server/{SERVER}", f"grpc_v2_server/{ADAPTER}", TEST), SERVED),
    "node": Kind(tuple(f"node/{file}" for file in NODE), ON_NODE, target="'stdio:node {name}_adapter.mjs'"),
    "sequences": Kind((f"sequences/{BATCHER}", f"sequences/{ADAPTER}", f"sequences/{TEST}"), OF_SEQUENCES, "SEQUENCE"),
    "engine": Kind((f"engine/{ENGINE}", f"engine/{ADAPTER}", f"engine/{TEST}"), STEPPED, "CONTINUOUS"),
}


def print_new_adapter(name: str, folder: Path, kind: str = "in-process") -> ExitStatus:
    """Write the files of a kind, and print what a person has to do next."""
    if not NAME.fullmatch(name):
        return refuse(f"'{name}' cannot be the name of a Python module: use lower-case letters, digits and underscores")
    try:
        written = new_adapter(name, folder, kind)
    except FileExistsError as error:
        return refuse(f"{error.filename} already exists: choose another name or --folder")
    except OSError as error:
        return refuse(f"cannot write {error.filename}: {error.strerror}", ExitStatus.UNAVAILABLE)
    names = [path.name for path in written]
    words = {"name": name, **{word: form.format(name) for word, form in FILES.items()}}
    spec = KINDS[kind].target.format(name=name, class_name=_class(name))
    adapter = next(one for one in names if Path(one).stem == f"{name}_adapter")
    where = () if folder.resolve() == Path.cwd() else (f"cd {folder}",)
    print(f"In {folder}: {', '.join(names[:-1])} and {names[-1]}. They run as they are. What is still missing:")
    steps = (
        *(step.format(**words) for step in KINDS[kind].steps),
        f"{adapter}, claims: what its documentation promises (docs/adapters.md lists the claims)",
        *where,
        f"batchproof adapter check {spec}, until it finds nothing",
        f"batchproof check --target {spec} --profile {KINDS[kind].profile}, and pytest {names[-1]}",
    )
    print("\n".join(f"{number:>3}. {step}" for number, step in enumerate(steps, 1)))
    return ExitStatus.FINE


def new_adapter(name: str, folder: Path, kind: str = "in-process") -> list[Path]:
    """Write the skeleton of a kind under this name; return the files.

    FileExistsError, before anything is written, if one of them exists.
    """
    paths = [folder / part for part in KINDS[kind].names(name)]
    for path in paths:
        if path.exists():
            raise FileExistsError(17, "File exists", str(path))
    folder.mkdir(parents=True, exist_ok=True)
    source = files("batchproof.commands.new") / "skeleton"
    for path, part in zip(paths, KINDS[kind].sources, strict=True):
        text = (source / part.format("example")).read_text(encoding="utf-8")
        path.write_text(re.sub(r"example(?=[_\".:']|$)", name, text).replace("Example", _class(name)), encoding="utf-8")
    return paths


def _class(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
