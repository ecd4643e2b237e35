"""Commands about measured numbers: figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from batchproof.cli import app
from batchproof.cli.options import end
from batchproof.exit_status import help_text


@app.command(epilog=help_text("figures"))
def figures(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Report folders of bench, tune or check [default: none].")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the figures of report folders; without a folder, list every figure that there is, as Markdown."""
    from batchproof.commands.figures import print_figures

    end(print_figures(folders or (), as_json=as_json))
