"""Commands that prepare a target: witness, image build."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from batchproof.cli import app
from batchproof.cli.options import Base, end
from batchproof.exit_status import help_text

images = typer.Typer(no_args_is_help=True, help="Images for --target triton-docker.")
app.add_typer(images, name="image")


@app.command(epilog=help_text("witness"))
def witness(folder: Annotated[Path, typer.Argument(help="An empty or new folder.")]) -> None:
    """Write a Triton model repository with the witness, for servers that do not load models on demand."""
    from batchproof.commands.witness import write_repository

    end(write_repository(folder))


@images.callback()
def _images() -> None:
    """Keep `build` a command of its own."""


@images.command("build", epilog=help_text("image"))
def build_image(
    tag: Annotated[str, typer.Option(help="Name of the image.")] = "batchproof-triton:2.51.0",
    base: Annotated[Base, typer.Option(help="Root file system: Debian's, or this machine's Python.")] = Base.auto,
) -> None:
    """Make a CPU-only Triton image from the embedded server, without a registry."""
    from batchproof.commands.image import print_build

    end(print_build(tag, base.value))
