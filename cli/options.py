"""Options that several commands share, and what every command has in common: how it ends."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, NoReturn
from urllib.parse import quote

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from batchproof.exit_status import ExitStatus, refuse


class Combinations(str, Enum):
    """The same words as `fixtures.combinations.SELECTIONS`, which would be slow to import here."""

    fast = "fast"
    pairs = "pairs"
    triples = "triples"


class Patience(str, Enum):
    """The same words as `fixtures.judging.patience.PATIENCE`."""

    quick = "quick"
    normal = "normal"
    thorough = "thorough"


class Base(str, Enum):
    """The same words as `targets.triton.image.BASES`."""

    auto = "auto"
    mmdebstrap = "mmdebstrap"
    host = "host"


def end(status: int) -> NoReturn:
    """End the command with this status."""
    raise typer.Exit(int(status))


def misuse(message: str) -> NoReturn:
    """End the command because of what stands on its command line; the message says what to change."""
    end(refuse(message))


def given(context: typer.Context, besides: str) -> list[str]:
    """Return the options that the person has given besides this one, in the order of the help."""
    sources = {parameter: context.get_parameter_source(str(parameter.name)) for parameter in context.command.params}
    chosen = [parameter for parameter, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    return [parameter.opts[0] for parameter in chosen if parameter.name != besides]


def with_image(target: str, image: str) -> str:
    """Return the target's word with this image among its options."""
    if not image:
        return target
    word, _, query = target.partition("?")
    if word != "triton-docker":
        misuse(f"--image goes with --target triton-docker, not with --target {target}")
    if any(option.startswith("image=") for option in query.split("&")):
        misuse(f"name the image once: by --image or in --target {target}")
    return f"{word}?" + "&".join(filter(None, [f"image={quote(image, safe='/:@')}", query]))


def _keep_awake(context: typer.Context, asked: bool) -> bool:
    if asked:
        from batchproof.host.awake import CannotKeepAwake, awake

        try:
            context.with_resource(awake())
        except CannotKeepAwake as why:
            end(refuse(why, ExitStatus.MISUSE))
    return asked


TARGETS = "TARGETS"  # in a help text: stands for the names and forms in `targets.names`, which would be slow to import here


class NamesTargets(TyperCommand):
    """A command whose help names the targets that there are."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Insert the names only when the help is shown."""
        from batchproof.commands.targets import words

        for parameter in self.params:
            if isinstance(parameter, TyperArgument | TyperOption) and parameter.help:
                parameter.help = parameter.help.replace(TARGETS, words())
        super().format_help(ctx, formatter)


Target = Annotated[
    str, typer.Option(help=f"What is judged: {TARGETS}. Options of a target: NAME?python=/path/to/python (docs/stacks/).")
]
Image = Annotated[str, typer.Option(help="With --target triton-docker: use this image instead of NVIDIA's.")]
Awake = Annotated[
    bool, typer.Option("--awake", help="Keep the processors of a virtual machine from sleeping.", callback=_keep_awake)
]
Workers = Annotated[
    int,
    typer.Option(min=0, show_default=False, help="Send open loops from this many Locust workers [default: this process]."),
]
WorkersFrom = Annotated[
    str, typer.Option(help="HOST:PORT where the workers connect (batchproof load-worker) [default: they are started here].")
]
Seed = Annotated[int, typer.Option(help="Seed of everything that is random.")]
