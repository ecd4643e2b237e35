"""What is tried with a deployment by more than one kind of check of an adapter."""

from __future__ import annotations

from dataclasses import dataclass

from batchproof.commands.adapter import backlog, ending, experiments
from batchproof.commands.adapter.deploying import Deploying
from batchproof.commands.adapter.finding import MS, Finding, unseen
from batchproof.commands.adapter.notes import ServerDied
from batchproof.commands.adapter.probe import Probe
from batchproof.targets.claims import problems, value_of

DELAY_NS = 150 * MS
TINY_NS = 1 * MS
ANY_DELAY = (0, TINY_NS, 10 * MS, DELAY_NS)  # the first that `deploy` accepts is the least that there is


@dataclass
class Trials(Deploying):
    """Deployments, and what is tried with each."""

    def _delays(self) -> list[int]:
        """Return the delays to try, the least first."""
        info = self.target.info
        least_ms = value_of(info.claims, "smallest_delay_ms") if not problems(info.claims) else 0
        least_ns = int(least_ms * MS)
        return sorted({max(one, least_ns) for one in ANY_DELAY})

    def _backlog(self, probe: Probe) -> backlog.Backlog:
        """Try it, and once more if the queue was not what it should be: a host that stalls looks like that too."""
        seen = experiments.backlog(probe, self.limit)
        if seen.opened and not seen.early and any(one.took_ns is None for one in seen.readings):
            seen = experiments.backlog(probe, self.limit)
        return seen

    def _close(self, probe: Probe) -> None:
        self._try_closing(probe)
        self._end(probe)

    def _try_closing(self, probe: Probe) -> None:
        def judge(seen: ending.Closing) -> tuple[Finding, ...]:
            claims = self.target.info.claims
            drops = not problems(claims) and value_of(claims, "closing") == "drops"
            return ending.judge_closing(seen, claimed=self.claims("close"), drops=drops)

        if probe.deployment.inner is not self.target.inner:
            usable = self.facts.usable
            self._try("close", "close", probe, lambda one: experiments.closing(one, usable=usable), judge, "closing")

    def _revive(self) -> None:
        """After an error of the model that ended the server, go on with a new one; ServerDied if there is none.

        Where each deployment has a process of its own, the next one is a new one anyway.
        """
        if not self.ended or not self._death():
            return
        if self.target.restart is not None:
            for one in list(self.open):
                self._end(one)
            self.target.restart()
        if self._death():
            self._add(unseen("and the rest", "not tried: an error of the model has ended the server"))
            raise ServerDied
