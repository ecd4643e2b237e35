"""Counts the functions of ours through which a queue delay goes, from a rule's test to its verdict.

    python docs/decisions/hops.py [RULE]      in an environment that has Batchproof

A hop is a function or method that is given the configuration, its facts, or a timeline that holds them, while the rule is
judged on the simulated target. The last hop is the rule's checker. Functions that dataclasses generate do not count.
"""

import sys
import tempfile
import threading
from types import FrameType

import pytest

RULE = sys.argv[1] if len(sys.argv) > 1 else "DB-DELAY-002"
hops: dict[str, None] = {}


def carries(value: object) -> bool:
    """It is the configuration, or the facts of it, or something that directly has one of these."""
    if hasattr(value, "max_queue_delay_ns") or (isinstance(value, dict) and "max_queue_delay_ns" in value):
        return True
    return isinstance(getattr(value, "config", None), dict) and "max_queue_delay_ns" in value.config


def note(frame: FrameType, event: str, _argument: object) -> None:
    """Note a call of ours that is given the delay."""
    module = frame.f_globals.get("__name__", "")
    if event != "call" or not module.startswith("batchproof."):
        return
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has no qualified names
    given = [one for one in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if one != "self"]
    if "__create_fn__" not in name and any(carries(frame.f_locals.get(one)) for one in given):
        hops[f"{module.removeprefix('batchproof.')}.{name}"] = None


sys.setprofile(note)
threading.setprofile(note)
quiet = ("-qq", "-p", "no:cacheprovider", "--import-mode=importlib")
judge = ("--target=virtual", f"--bp-rules={RULE}", f"--bp-report={tempfile.mkdtemp()}")
status = pytest.main([*quiet, "--pyargs", "batchproof.suites.conformance", *judge])
sys.setprofile(None)
judged = next(place for place, hop in enumerate(reversed(hops)) if ".checkers." in hop)  # what follows only reports
path = [*hops][: len(hops) - judged]
print(*path, f"{len(path)} functions; exit status {int(status)}", sep="\n")
