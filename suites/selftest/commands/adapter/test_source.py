"""Where an adapter says something: never in what all adapters share."""

from __future__ import annotations

from pathlib import Path

from batchproof.commands.adapter.finding import wrong
from batchproof.commands.adapter.source import place
from batchproof.commands.adapter.table import message_of
from batchproof.targets.kit import Server
from batchproof.targets.litserve import LitServeTarget
from batchproof.targets.stdio import StdioDeployment, StdioTarget

READY = wrong("ready", "the first request waits", "deploy", "wait for the model")


def test_a_deployment_of_the_kit() -> None:
    """It has the verbs, and the line to mend is where the adapter calls it."""
    found = place("submit", object.__new__(LitServeTarget), object.__new__(Server))

    assert found is not None
    assert (Path(found.file).name, found.text) == ("litserve.py", "return Server(")


def test_a_program_behind_stdio() -> None:
    """No line of Batchproof's own half is named, but a message of the program."""
    assert place("deploy", object.__new__(StdioTarget), object.__new__(StdioDeployment)) is None
    assert message_of(READY, "stdio:node adapter.mjs") == "the program's answer to `configure`"
    assert message_of(wrong("answer", "", "Response", ""), "stdio:node adapter.mjs") == "the program"
    assert message_of(READY, "litserve") == ""
