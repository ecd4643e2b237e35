"""Targets: what is judged, and what an adapter author imports. `resolve` returns the target that `--target` names."""

from batchproof.targets.futures import relay
from batchproof.targets.names import BUILT_IN, resolve
from batchproof.targets.protocol import (
    Deployment,
    Kind,
    Refused,
    Request,
    Response,
    Target,
    TargetError,
    TargetInfo,
    Unsupported,
)
from batchproof.targets.witness.probe import Payload, Place, Witness, WitnessError, read_log, release

__all__ = [
    "BUILT_IN",
    "Deployment",
    "Kind",
    "Payload",
    "Place",
    "Refused",
    "Request",
    "Response",
    "Target",
    "TargetError",
    "TargetInfo",
    "Unsupported",
    "Witness",
    "WitnessError",
    "read_log",
    "relay",
    "release",
    "resolve",
]
