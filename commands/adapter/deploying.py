"""The deployments of a check of an adapter: brought up at once where that is allowed, and what `deploy` says instead."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

from batchproof.commands.adapter.finding import note, wrong
from batchproof.commands.adapter.notes import Notes
from batchproof.commands.adapter.probe import Broken, Probe, described
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import TargetError, Unsupported
from batchproof.targets.claims import value_of
from batchproof.targets.deadlines import timeout_s, within
from batchproof.targets.fitting import UNLIMITED
from batchproof.targets.kit.pool import Pool
from batchproof.targets.lifecycle import finish
from batchproof.targets.verbs import FullDeployment

SIZE = 4
FEATURES = {"instances": "instances", "queue_timeout_ns": "queue_timeout"}  # of a configuration, with their claims


@dataclass
class Deploying(Notes):
    """What is deployed. delay_ns: the least queue delay with which the stack works. open: what has not been removed yet."""

    delay_ns: int = 0
    open: list[Probe] = field(default_factory=list)
    coming: dict[BatcherConfig, Future[FullDeployment]] = field(default_factory=dict)

    @property
    def limit(self) -> int:
        """The most rows of a batch, which nothing reaches where batches have no limit."""
        return UNLIMITED if self.target.info.claims.get("batch_limit") is False else SIZE

    def _config(self, fields: Mapping[str, Any]) -> BatcherConfig:
        return BatcherConfig(**{"max_batch_size": self.limit, "max_queue_delay_ns": self.delay_ns, **fields})

    def _at_once(self, *asked: Mapping[str, Any]) -> None:
        """Deploy all of these at a time, where the target can and one does not disturb another: servers start slowly."""
        at_once = self.target.deploys_at_once
        if at_once < 2 or self.target.simulated or self.target.info.claims.get("side_by_side") is False:
            return
        self.say("deploying several at once")
        pool = Pool(at_once, "batchproof-deploy")
        self.coming |= {config: pool.submit(self.target.deploy, config) for config in map(self._config, asked)}
        wait(self.coming.values(), timeout_s("READY_S"))
        pool.close()

    def _deployed(self, config: BatcherConfig) -> FullDeployment:
        try:
            if (coming := self.coming.pop(config, None)) is not None:
                return coming.result()
        except TargetError as error:
            deployed = self.target.deploy(config)
            says = f"a deployment failed alongside others, but works alone: {described(error).partition(';')[0]}"
            self._add(note("deploy", says, "deploy", "make `deploys_at_once` smaller, or leave it out"))
            return deployed
        return self.target.deploy(config)

    def _deploy(self, **fields: Any) -> Probe | str | None:
        """Return a probe; a string: what `deploy` refused; None: it failed, and that has been noted.

        A feature that is not claimed is never asked for by a rule, so `deploy` may fail with it as it likes; nor is a batch
        that is smaller than the claims allow.
        """
        config = self._config(fields)
        self.say(f"deploying {_asked(fields)}")
        unclaimed = any(name in fields and not self.claims(need) for name, need in FEATURES.items())
        unclaimed = unclaimed or config.max_batch_size < value_of(self.target.info.claims, "smallest_batch")
        try:
            with within("READY_S", f"`deploy` of {self.target.info.name}"):
                probe = Probe(self._deployed(config))
        except Unsupported as lack:
            return f"Unsupported({lack.capability!r})"
        except TargetError as error:
            if unclaimed:
                return described(error).partition(";")[0]
            self._failed(
                "deploy", Broken("deploy", error), "the message says what to do; for what cannot be had: Unsupported"
            )
        except Exception as error:
            if unclaimed:
                return f"{type(error).__name__}: {error}"
            mend = f"raise Unsupported('...') if the stack cannot have {_asked(fields)}, TargetError if it is broken"
            self._failed("deploy", Broken("deploy", error), mend)
        else:
            self.open.append(probe)
            self.last = probe.deployment.inner
            return probe
        return None

    def _end(self, probe: Probe) -> None:
        self.open.remove(probe)
        probe.close()
        began = time.monotonic()
        finish(probe.deployment)
        if not probe.deployment.simulated and time.monotonic() - began >= 10:
            says = "it takes more than 10 s to close a deployment: a check gives up then, and processes may be left"
            self._add(wrong("close", says, "finish", "end what it waits for, and limit the wait"))


def _asked(fields: Mapping[str, Any]) -> str:
    """Return what is asked of a deployment: `instances = 2`."""
    return ", ".join(f"{name} = {value}" for name, value in fields.items())
