"""The configurations and files of a `Model` on Triton: the witness with versions, groups and warm-up, or an ensemble."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from batchproof.targets.repository import BROKEN, Model, WarmUp
from batchproof.targets.witness.probe import COLUMNS, Head, Payload, encode
from batchproof.targets.witness_model import INPUTS, OUTPUTS, witnessed

NOT_A_MODEL = f"raise RuntimeError('this version is {BROKEN}')\n".encode()
SOURCES = {"model.py": "triton_deployed.py", "probe.py": "probe.py", "place.py": "place.py"}


def configuration(model: Model, name: str, folder: str, names: dict[str, str]) -> Any:
    """Return the model's configuration as Triton's message. name, names: what models are called on the server.

    folder: of its witness's log, in the server's temporary folder.
    """
    return _ensemble(model, name, names) if model.steps else _witness(model, name, folder)


def contents(model: Model) -> dict[str, bytes]:
    """Return the files in the model's folder, by their paths in it, without its configuration."""
    if model.steps:
        return {f"{version}/ensemble": b"no file is needed here\n" for version in model.versions}
    found = {}
    for version in model.versions:
        for name, source in SOURCES.items():
            found[f"{version}/{name}"] = files("batchproof.targets.witness").joinpath(source).read_bytes()
        if version in model.broken:
            found[f"{version}/model.py"] = NOT_A_MODEL
    return found | {f"warmup/{place}": _sample(place, one) for place, one in enumerate(model.warm_ups)}


def _witness(model: Model, name: str, folder: str) -> Any:
    from tritonclient.grpc import model_config_pb2 as pb

    proto = witnessed(model.config, name, witness=folder, step=str(model.step)).to_proto()
    _policy(proto, model)
    if model.groups:
        del proto.instance_group[:]
    for group in model.groups:
        made = proto.instance_group.add(kind=pb.ModelInstanceGroup.KIND_CPU, count=group.count)
        made.rate_limiter.priority = group.priority
        for resource, units in group.resources:
            made.rate_limiter.resources.add(name=resource, count=units)
    for place, one in enumerate(model.warm_ups):
        sample = proto.model_warmup.add(name=f"sample{place}", batch_size=one.rows, count=one.count)
        tensor = sample.inputs["IN"]
        tensor.data_type, tensor.input_data_file = pb.TYPE_INT64, str(place)
        tensor.dims.append(len(COLUMNS))
    return proto


def _ensemble(model: Model, name: str, names: dict[str, str]) -> Any:
    proto = replace(model.config, name=name, inputs=INPUTS, outputs=OUTPUTS, backend="").to_proto()
    for field in ("dynamic_batching", "instance_group"):
        proto.ClearField(field)
    proto.platform = "ensemble"
    _policy(proto, model)
    last = len(model.steps) - 1
    for place, step in enumerate(model.steps):
        made = proto.ensemble_scheduling.step.add(model_name=names.get(step, step), model_version=-1)
        made.input_map["IN"] = f"AFTER{place}" if place else "IN"
        made.output_map["OUT"] = f"AFTER{place + 1}" if place < last else "OUT"
        if place == last:
            made.output_map["INFO"] = "INFO"
    return proto


def _policy(proto: Any, model: Model) -> None:
    if isinstance(model.live, int):
        proto.version_policy.latest.num_versions = model.live
    elif model.live:
        proto.version_policy.specific.versions.extend(model.live)
    else:
        proto.version_policy.all.SetInParent()


def _sample(place: int, one: WarmUp) -> bytes:
    tensor = encode(Head(-1 - place, one.hold, Payload(fail=one.fail)))
    return bytes(np.ascontiguousarray(tensor).tobytes())
