"""Prints a check of an adapter: a table, what has to be mended and where, and the claims that were measured."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from batchproof.commands.adapter.check import Examined, examine
from batchproof.commands.adapter.claims import as_toml
from batchproof.commands.adapter.finding import Finding, Level
from batchproof.commands.adapter.source import Place
from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.live_line import LiveLine
from batchproof.host.watcher import tell
from batchproof.targets import TargetError
from batchproof.targets.protocol import Misuse
from batchproof.targets.stdio import PREFIX

MESSAGES = {"deploy": "configure", "submit": "infer", "close": "stop"}  # docs/stdio.md
STYLES = {Level.OK: "green", Level.NOTE: "cyan", Level.WRONG: "bold red", Level.UNSEEN: "dim"}


def print_check(spec: str, claims: Path | None = None, *, as_json: bool = False) -> ExitStatus:
    """Check the adapter that `spec` names, and print what was found. claims: where the measured claims are written."""
    console = Console(highlight=False, soft_wrap=as_json, file=sys.stderr if as_json else None)
    live = LiveLine(Console(stderr=True, highlight=False, soft_wrap=True))

    def say(what: str) -> None:
        tell(doing=f"this was tried: {what}")
        live.show(what)

    try:
        examined = examine(spec, say)
    except Misuse as error:
        return refuse(error)
    except TargetError as error:
        return refuse(f"{error}{_where(error)}", ExitStatus.UNAVAILABLE)
    except KeyboardInterrupt:
        return refuse("interrupted", ExitStatus.INTERRUPTED)
    finally:
        live.stop()
    text = as_toml(examined.claims, examined.name, examined.version, examined.untried)
    if claims is not None:
        try:
            claims.write_text(text, encoding="utf-8")
        except OSError as error:
            return refuse(f"cannot write {claims}: {error.strerror}", ExitStatus.UNAVAILABLE)
    if as_json:
        print(json.dumps(as_document(examined), indent=1))
    else:
        _print(console, examined, spec, text, claims)
    return ExitStatus.FAILED if examined.wrong else ExitStatus.FINE


def as_document(examined: Examined) -> dict[str, Any]:
    """Return the findings, the measured claims, and those for which there is another explanation, as JSON."""
    claims, unclear = (
        {one.name: {"value": one.value, "because": one.reasons} for one in examined.claims if bool(one.unless) is doubted}
        for doubted in (False, True)
    )
    findings = [
        {"check": one.check, "result": one.level.value, "says": one.says, "where": str(where or ""), "mend": one.mend}
        for one, where in examined.findings
    ]
    about = {"target": examined.name, "version": examined.version, "seconds": round(examined.seconds, 1)}
    return {**about, "findings": findings, "claims": claims, "unclear": unclear}


def _where(error: BaseException) -> str:
    """Return where the exception behind this one was raised, if there is one."""
    frames = traceback.extract_tb(error.__cause__.__traceback__) if error.__cause__ else []
    return f" ({Place(frames[-1].filename, frames[-1].lineno or 0)})" if frames else ""


def _print(console: Console, examined: Examined, spec: str, claims: str, file: Path | None) -> None:
    title = Text(f"{examined.name} {examined.version}")
    table = Table("check", "", "what was seen", title=title, title_justify="left", box=None)
    for finding, _ in examined.findings:
        table.add_row(Text(finding.check), Text(finding.level.value, STYLES[finding.level]), Text(finding.says))
    console.print(table)
    for finding, where in examined.wrong:
        _print_wrong(console, finding, _line(where) or message_of(finding, spec))
    if not examined.ready and examined.wrong:
        console.print(Text(f"\nFix this first: nothing else can be tried yet ({examined.seconds:.0f} s)", "bold red"))
        return
    console.print(
        Text(f"\nMeasured claims, to start from{f' ({file})' if file else ' (--claims FILE writes them)'}:\n", "bold")
    )
    console.print(Text(claims), soft_wrap=True)
    if examined.wrong:
        count = len(examined.wrong)
        says = f"{count} thing{'s' * (count > 1)} to fix before any rule is judged"
        console.print(Text(f"{says} ({examined.seconds:.0f} s)", "bold red"))
    else:
        call = f"batchproof check --target '{spec}' --profile {examined.profile}" + (f" --claims {file}" if file else "")
        console.print(Text(f"The adapter is ready ({examined.seconds:.0f} s). Next: {call}", "bold green"), soft_wrap=True)


def _line(where: Place | None) -> str:
    return f"{where}   {where.text}" if where else ""


def message_of(finding: Finding, spec: str) -> str:
    """Return which message of a program behind stdio a finding is about: it has no lines that could be named."""
    if not spec.startswith(PREFIX) or not finding.part:
        return ""
    verb = finding.part.islower()  # and not a name that an adapter in Python calls
    return f"the program's answer to `{MESSAGES.get(finding.part, finding.part)}`" if verb else "the program"


def _print_wrong(console: Console, finding: Finding, where: str) -> None:
    console.print(Text(f"\nWRONG  {finding.check}: {finding.says}", STYLES[finding.level]), soft_wrap=True)
    if where:
        console.print(Text(f"       {where}"), soft_wrap=True)
    console.print(Text(f"       to fix it: {finding.mend}"), soft_wrap=True)
