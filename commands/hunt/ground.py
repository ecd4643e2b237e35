"""Where a hunt takes place: one target, what is deployed on it, and drives that record what the host did meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from batchproof.fixtures.driving.case import Case
from batchproof.fixtures.driving.driver import Drive
from batchproof.fixtures.driving.script import Script
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.fixtures.judging.fit import among_levels
from batchproof.fixtures.judging.patience import PATIENCE, Waits
from batchproof.host.run_queue import Waiting
from batchproof.host.sentinel import Sentinel
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.deadlines import within
from batchproof.targets.lifecycle import close, finish
from batchproof.targets.protocol import TargetGone
from batchproof.targets.verbs import FullDeployment, FullTarget

if TYPE_CHECKING:
    from typing_extensions import Self

BEFORE_NS = 1_000_000_000


class Ground:
    """Deploys and drives. Use it in a `with` block, which closes the target."""

    def __init__(self, target: FullTarget) -> None:
        self.target = target
        self.claims = dict(target.info.claims)
        self.simulated = target.simulated
        self._waits = Waits(PATIENCE["normal"], shrinking=False)
        self._sentinel = Sentinel()

    def __enter__(self) -> Self:
        """Begin to watch the host."""
        if not self.simulated:
            self._sentinel.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the target."""
        if not self.simulated:
            self._sentinel.stop()
        close(self.target)

    def deploy(self, config: BatcherConfig) -> FullDeployment:
        """Deploy; Unsupported or TargetError if the target cannot."""
        if self.simulated:
            return self.target.deploy(config)
        with within("DEPLOY_S", f"`deploy` of {self.target.info.name}"):
            return self.target.deploy(config)

    def drive(
        self, deployment: FullDeployment, config: BatcherConfig, script: Script, *, count: bool, seed: int = 1
    ) -> Timeline:
        """Drive one script; TargetGone if the target has died meanwhile."""
        wait_ns, asked = self._waits.allow(config, script)
        drive = Drive(deployment, wait_ns, seed, count=count, asked=asked)
        script = among_levels(config, script, self.claims)
        drive.heed(self.claims)
        waiting = None if self.simulated else Waiting(deployment.process_group, own=True)
        try:
            drive.run(script)
        finally:
            if waiting:
                waiting.end()
        stalls = () if self.simulated else self._sentinel.since(drive.marks["start"] - BEFORE_NS)
        timeline = drive.timeline(config.facts(), stalls, **(waiting.facts() if waiting else {}))
        if why := self.target.alive():
            raise TargetGone(why)
        return replace(timeline, claims=self.claims)

    def alone(self, case: Case) -> Timeline:
        """Drive a case on a fresh deployment."""
        deployment = self.deploy(case.config)
        try:
            return self.drive(deployment, case.config, case.script, count=True)
        finally:
            self.end(deployment)

    def end(self, deployment: FullDeployment) -> None:
        """Close a deployment."""
        if self.simulated:
            return  # nothing of it is left
        finish(deployment)
