"""Targets that break, and one that takes time, for the tests of `ab`."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

from batchproof.targets.protocol import Request, Response, TargetError, Unsupported
from batchproof.targets.reference import ReferenceDeployment, ReferenceTarget

if TYPE_CHECKING:
    from concurrent.futures import Future

ENOUGH = 1700  # requests: the pilot makes some 800, and each block some 300


class Slow(ReferenceTarget):
    """The reference, on the host's clock."""


class Refuses(ReferenceTarget):
    """Refuses every configuration."""

    def __init__(self) -> None:
        super().__init__()
        self.info = type(self.info)(**{**vars(self.info), "name": "refuses"})

    def deploy(self, config: Any) -> ReferenceDeployment:
        """Refuse it."""
        raise Unsupported("preferred sizes")


class Broken(ReferenceTarget):
    """Cannot be started."""

    def __init__(self) -> None:
        raise TargetError("the server said:\nno memory")


class Dies(ReferenceTarget):
    """Takes its process with it in the middle of the third pair."""

    def deploy(self, config: Any) -> ReferenceDeployment:
        """Serve, for a while."""
        deployment = super().deploy(config)
        submit, asked = deployment.submit, itertools.count()

        def submit_or_die(request: Request) -> Future[Response]:
            if next(asked) > ENOUGH:
                os._exit(3)
            return submit(request)

        deployment.submit = submit_or_die  # type: ignore[method-assign]
        return deployment
