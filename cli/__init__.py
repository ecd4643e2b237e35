"""`batchproof`: declares the commands, with their options and help; `commands/` does what they say."""

from __future__ import annotations

import errno
import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from batchproof import __version__
from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.interruption import Interruption
from batchproof.host.process_end import run_to_the_end
from batchproof.host.streams import guard, lost
from batchproof.host.watcher import run_watched

NEVER_EMPTY = frozenset({
    "--base", "--baseline", "--claims", "--corpus", "--fail-if-slower", "--figure", "--figures", "--folder", "--image",
    "--known", "--new", "--only", "--out", "--plots", "--profile", "--replay", "--report", "--rules", "--run-spread",
    "--tables", "--trace", "--write-baseline",
})  # fmt: skip

WATCHED = frozenset({"ab", "adapter", "bench", "check", "diff", "hunt", "tune"})  # they run a target's code in this process

SHOWN = 60  # characters of a name that is too long
PREFIX = "Value error, "  # pydantic's, before each message of typer's about a value


class _Commands(TyperGroup):
    """The commands. What is wrong with a value is said in typer's words alone; no file has a name that is too long."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix(PREFIX)
            raise
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            why = f"the name of a file is too long: {str(error.filename)[:SHOWN]}...: choose a shorter one"
            raise typer.Exit(refuse(why)) from None


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The conformance and regression suite for inference batchers.",
)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"batchproof {__version__}")
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line, and end this process, whatever a target has left in it.

    SIGTERM, and SIGHUP when a terminal closes, act like Ctrl-C, so that servers are ended and reports are kept. The second
    request ends it at once. A command that runs a target's code is watched, as that code can end it without a word.
    """
    if sys.argv[1:2] and sys.argv[1] in WATCHED:
        run_watched(_run_to_the_end, _died)
    _run_to_the_end()


def _run_to_the_end() -> NoReturn:
    guard()
    if not _is_another(sys.argv[1:]):
        Interruption().listen()
    run_to_the_end(_run, ExitStatus.INTERRUPTED)


def _died(how: str, told: Mapping[str, str]) -> ExitStatus:
    from batchproof.commands.died import died

    return died(how, told)


def _is_another(words: Sequence[str]) -> bool:
    """Return whether another command follows, which gets Ctrl-C itself."""
    return tuple(words[:2]) == ("lab", "awake")


def empty_option(words: Sequence[str]) -> str:
    """Return the first option that has no value where nothing would stand for everything, or for this folder; else ""."""
    if _is_another(words):
        return ""
    given = (word for word, after in zip_longest(words, words[1:]) if after == "" or word.endswith("="))
    return next((word.rstrip("=") for word in given if word.rstrip("=") in NEVER_EMPTY), "")


def _run() -> None:
    """Run the command line; the status is UNAVAILABLE if something that it has printed could not be written.

    If the reader has closed the pipe, as `head` does, nothing is said.
    """
    if option := empty_option(sys.argv[1:]):
        why = f"{option} is empty, perhaps because a variable of a script is not set: give it a value, or leave it out"
        raise SystemExit(refuse(why))
    try:
        app()
    except SystemExit as ended:
        error = lost()
        if error is None or ended.code == ExitStatus.INTERRUPTED:
            raise
        if not isinstance(error, BrokenPipeError):
            refuse(f"cannot write to standard output: {error.strerror}")
        raise SystemExit(ExitStatus.UNAVAILABLE) from None


from batchproof.cli import judging, measuring, preparing, tracking, history  # noqa: E402, F401, I001 - each adds its commands, in this order
