"""What a check of an adapter has found so far: facts, findings with their places, and whether the server is still alive."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from batchproof.commands.adapter import ending
from batchproof.commands.adapter.caller import Hung
from batchproof.commands.adapter.claims import Measured, differences, measured
from batchproof.commands.adapter.deaths import Deaths
from batchproof.commands.adapter.facts import Facts
from batchproof.commands.adapter.finding import MS, Finding, Level, wrong
from batchproof.commands.adapter.probe import Broken, Probe
from batchproof.commands.adapter.residue import Before
from batchproof.commands.adapter.source import Place, place, raised_at
from batchproof.host.clock import HOST_CLOCK
from batchproof.targets import TargetInfo
from batchproof.targets.kit.processes import died
from batchproof.targets.verbs import FullTarget

ERROR = "an error of the model"  # what is tried when the model raises
DEATH_NS = 1_000 * MS  # for the news of a process that ended: its connections are lost a moment before
Seen = TypeVar("Seen")


class ServerDied(Exception):
    """The server has ended although nobody asked it to: there is nothing left to try."""


@dataclass
class Notes:
    """The notes of one check. say: what is being tried, for a person who waits. last: the adapter's last deployment.

    began_s: when it began, before the target's processes did. ended: an error of the model has ended the server.
    """

    target: FullTarget
    say: Callable[[str], None] = lambda _: None
    began_s: float = 0.0
    facts: Facts = field(default_factory=Facts)
    findings: list[tuple[Finding, Place | None]] = field(default_factory=list)
    last: Any = None
    ended: bool = False

    def claims(self, name: str) -> bool:
        """Return whether the adapter makes this claim."""
        return bool(self.target.info.claims.get(name))

    def _is_wrong(self, *checks: str) -> bool:
        return any(finding.check in checks and finding.level is Level.WRONG for finding, _ in self.findings)

    def _try(
        self, check: str, what: str, probe: Probe, experiment: Callable[[Probe], Seen],
        judge: Callable[[Seen], Iterable[Finding]], name: str,
    ) -> Seen | None:  # fmt: skip
        """Do one experiment, keep its facts under this name, and judge them; None if a verb broke or hung."""
        self.say(what)
        before = len(self.findings)
        try:
            seen = experiment(probe)
        except Hung as hung:
            says = f"`{hung.verb}` has not returned after 2 s"
            self._add(wrong(check, says, hung.verb, "it must not wait for the model or for an answer"))
        except Broken as broken:
            self._failed(check, broken, "let it return, whatever the state of the deployment")
        else:
            self._note(name, seen, judge)
            self._survived(what, before)
            return seen
        self._survived(what, before)
        return None

    def _survived(self, what: str, before: int) -> None:
        """Raise ServerDied if the server has ended: then that is what is wrong, and not what was found since `before`.

        A server that is told to close may end. One that an error of its model ends is what the stack makes of it: that is
        noted, and nothing has to be mended.
        """
        if what == "close" or self.target.simulated:
            return
        if any(finding.level is Level.WRONG for finding, _ in self.findings[before:]):
            HOST_CLOCK.wait(lambda: bool(self._death()), HOST_CLOCK.now_ns() + DEATH_NS)
        if why := self._death():
            del self.findings[before:]
            if what == ERROR:
                self._add(*ending.judge_death(why))
                self.ended = True
                return
            mend = "find out from its last lines why; the checks before this one had it do nothing out of the ordinary"
            self._add(wrong("server", f"the server died while this was tried: {what}\n{why}", "deploy", mend))
            raise ServerDied

    def _measured(self) -> tuple[Measured, ...]:
        """Return the claims that the facts support."""
        return measured(self.facts)

    def end(self, residue: Before, deaths: Deaths) -> None:
        """Close the target, and see what is left."""
        self.say("closing")
        try:
            self.target.close()
        except Exception as error:
            self._failed("close", Broken("close", error), "let it return, even if it is called twice")
        self._note("residue", residue.left(), ending.judge_residue)
        self._add(*deaths.findings())
        if isinstance(self.target.info, TargetInfo) and not self._is_wrong("claims", "info"):
            self._add(*differences(self.target.info.claims, self._measured()))

    def _death(self) -> str:
        return self.target.alive() or died(self.began_s)

    def _note(self, name: str, seen: Seen, judge: Callable[[Seen], Iterable[Finding]]) -> None:
        self.facts = replace(self.facts, **{name: seen})  # type: ignore[arg-type]
        self._add(*judge(seen))

    def _failed(self, check: str, broken: Broken, mend: str) -> None:
        where = raised_at(broken.frames, self.target.inner, self.last) or place(broken.verb, self.target.inner, self.last)
        self.findings.append((wrong(check, str(broken), broken.verb, mend), where))

    def _add(self, *findings: Finding) -> None:
        for finding in findings:
            self.findings.append((finding, place(finding.part, self.target.inner, self.last) if finding.part else None))
