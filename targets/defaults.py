"""A stack with nothing set: the configuration that stands for it, and what its documentation says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import value_of

MS = 1_000_000
US = 1_000


@dataclass(frozen=True)
class StackDefaults(BatcherConfig):
    """Asks for nothing: `FullTarget.deploy` calls the adapter's `deploy_defaults` for it.

    documented: the names of those fields whose value the stack's documentation gives. All others are unknown.
    """

    documented: tuple[str, ...] = ()

    def features(self) -> tuple[str, ...]:
        """Return the claim of an adapter that can deploy like this."""
        return ("defaults",)

    def facts(self) -> dict[str, Any]:
        """Return JSON data: that nothing is set, and what is documented."""
        return {"nothing_set": True, **{name: getattr(self, name) for name in self.documented}}


def documented(claims: Mapping[str, Any]) -> StackDefaults:
    """Return the defaults with the values that the claims give: a number that is not claimed is not documented."""
    size, delay_ms = value_of(claims, "default_batch"), value_of(claims, "default_delay_ms")
    values = {} if size is False else {"max_batch_size": size}
    if delay_ms is not False:
        values["max_queue_delay_ns"] = round(delay_ms * MS / US) * US
    return StackDefaults(**values, documented=tuple(values))
