"""Adapters with one thing wrong: each differs from a right one in one line, which ends with `# <- here`.

Most of them live in simulated time. Each is a target: `batchproof.suites.selftest.commands.adapter.wrong_adapters:Silent`.
A deployment that is wrong, `_Silent`, makes the target `Silent`.
"""

from __future__ import annotations

from batchproof.suites.selftest.commands.adapter.wrong_adapters import answers, deploys, odd, right, sights, verbs
from batchproof.targets.reference import ReferenceTarget
from batchproof.targets.virtual import VirtualTarget

TIMED = ("_Blocks", "_Connects", "_QueueHangs", "_AcceptsWhenIdle", "_FullQueueBlocks")  # time has to pass by itself
_WRITTEN = {name: one for module in (right, answers, sights, verbs, deploys, odd) for name, one in vars(module).items()
            if isinstance(one, type)}  # fmt: skip
_MADE = {name.strip("_"): right.adapter(one, ReferenceTarget if name in TIMED else VirtualTarget)
         for name, one in _WRITTEN.items() if name.startswith("_") and issubclass(one, right.Deployed)}  # fmt: skip
globals().update(_MADE | _WRITTEN)
