"""What a server of ours has logged about a batching strategy: it tells nobody else that a hook has failed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

LATE_S = 1.0  # the server may write its log a moment after the hook has
Log = Callable[[], list[dict[str, Any]]]


def with_reports(log: Log, server_log: Callable[[], str], model: str) -> Log:
    """Return the verb `log` of a model, with a line `reported` for each failure of a hook in the server's log."""
    failure = re.compile(rf"Custom batching \w+ function failed for model {re.escape(model)}: (.*)")
    told = failed = 0

    def both() -> list[dict[str, Any]]:
        nonlocal told, failed
        lines = log()
        failed += sum("error" in line for line in lines)
        deadline = time.monotonic() + LATE_S
        while len(found := failure.findall(server_log())) < failed and time.monotonic() < deadline:
            time.sleep(0.01)
        new, told = found[told:], len(found)
        return [*lines, *({"hook": "reported", "error": words.rstrip('"')} for words in new)]

    return both
