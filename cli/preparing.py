"""Commands that prepare what others need: witness, image build, env, new rule and adapter, adapter check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from batchproof.cli import app
from batchproof.cli.options import TARGETS, Base, NamesTargets, end, misuse
from batchproof.exit_status import help_text

news = typer.Typer(no_args_is_help=True, help="Write the skeleton of a rule or an adapter: see CONTRIBUTING.md.")
app.add_typer(news, name="new")
images = typer.Typer(no_args_is_help=True, help="Build images for --target triton-docker.")
app.add_typer(images, name="image")
envs = typer.Typer(no_args_is_help=True, help="Make separate environments for stacks: see docs/environments.md.")
app.add_typer(envs, name="env")
adapters = typer.Typer(no_args_is_help=True, help="Check an adapter: see docs/adapters.md.")
app.add_typer(adapters, name="adapter")


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


InFolder = Annotated[Path | None, typer.Option(help="Where environments are kept [default: ~/.cache/batchproof/env].")]


@envs.command("make", epilog=help_text("env"))
def make_env(
    name: Annotated[str, typer.Argument(help="The target whose stack is installed, such as vllm: see `env list`.")],
    folder: InFolder = None,
    python: Annotated[str, typer.Option(help="The Python interpreter to use [default: this one].")] = "",
) -> None:
    """Make a virtual environment with a stack, in the version that is judged. Say what is downloaded and how to use it."""
    from batchproof.commands.env.view import print_make

    end(print_make(name, folder, python))


@envs.command("list", epilog=help_text("env"))
def list_envs(folder: InFolder = None) -> None:
    """Show which environments can be made, how large they are, and which of them exist."""
    from batchproof.commands.env.view import print_list

    end(print_list(folder))


@envs.command("remove", epilog=help_text("env"))
def remove_env(name: Annotated[str, typer.Argument(help="The target.")], folder: InFolder = None) -> None:
    """Remove all environments of a stack, including those of other versions."""
    from batchproof.commands.env.view import print_remove

    end(print_remove(name, folder))


@news.callback()
def _news() -> None:
    """Keep each kind a command of its own."""


@news.command("rule", epilog=help_text("new"))
def new_rule(
    area: Annotated[str, typer.Argument(help="The area that the rule belongs to, such as SIZE or DB-TIMEOUT.")],
    checkout: Annotated[Path, typer.Option(help="A checkout of this project.")] = Path(),
) -> None:
    """Add the skeleton of a rule: its entry, test, checker, cases and mutant. Say what is still missing."""
    from batchproof.commands.new.rule import print_new_rule

    end(print_new_rule(area, checkout))


@news.command("adapter", epilog=help_text("new"))
def new_adapter(
    name: Annotated[str, typer.Argument(help="The batcher's name: lower-case letters, digits and underscores.")],
    folder: Annotated[Path, typer.Option(help="Where the files go.")] = Path(),
    in_process: Annotated[bool, typer.Option("--in-process", help="It is called in this process (the default).")] = False,
    on_asyncio: Annotated[bool, typer.Option("--asyncio", help="It runs on an asyncio event loop.")] = False,
    over_http: Annotated[bool, typer.Option("--http", help="It is behind its own HTTP server.")] = False,
    over_grpc_v2: Annotated[bool, typer.Option("--grpc-v2", help="It is behind a KServe V2 server over gRPC.")] = False,
    on_node: Annotated[bool, typer.Option("--node", help="It is written in JavaScript, for Node.")] = False,
    sequences: Annotated[bool, typer.Option("--sequences", help="It batches sequences, and nothing else.")] = False,
    engine: Annotated[bool, typer.Option("--engine", help="It is an engine with continuous batching.")] = False,
) -> None:
    """Write an adapter that runs, a stand-in for the batcher behind it, and a test. Say what is still missing."""
    from batchproof.commands.new.adapter import KINDS, print_new_adapter

    asked = (in_process, on_asyncio, over_http, over_grpc_v2, on_node, sequences, engine)
    given = [kind for kind, one in zip(KINDS, asked, strict=True) if one]
    if len(given) > 1:
        misuse(f"choose one of --{' and --'.join(given)}")
    end(print_new_adapter(name, folder, *given))


@adapters.callback()
def _adapters() -> None:
    """Keep `check` a command of its own."""


@adapters.command("check", cls=NamesTargets, epilog=help_text("adapter"))
def check_adapter(
    target: Annotated[str, typer.Argument(help=f"The adapter, or any other target: {TARGETS}.")],
    claims: Annotated[Path | None, typer.Option(help="Write the measured claims to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Try what the rules rely on: answers, gate, log, queue, and closing. Say what to fix; measure the claims."""
    from batchproof.commands.adapter.table import print_check

    end(print_check(target, claims, as_json=as_json))
