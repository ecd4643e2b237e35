"""Finds the target that `--target` names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any
from urllib.parse import urlsplit

from batchproof.targets.deadlines import check_timeouts, within
from batchproof.targets.protocol import TargetError, UnknownTarget
from batchproof.targets.verbs import FullTarget, full

WITH_OPTIONS = ("triton-docker",)  # `NAME?option=value&...`
GROUP = "batchproof.targets"
BUILT_IN = {
    "reference": "batchproof.targets.reference:ReferenceTarget",
    "virtual": "batchproof.targets.virtual:VirtualTarget",
    "null": "batchproof.targets.null:NullTarget",
    "triton": "batchproof.targets.triton.embedded:embedded_triton",
    "triton-docker": "batchproof.targets.triton.container:docker_triton",
    "litserve": "batchproof.targets.litserve:LitServeTarget",
}
SCHEMES = {
    "grpc": "batchproof.targets.triton.target:running_triton",
    "http": "batchproof.targets.triton.target:running_triton",
}


def resolve(spec: str) -> FullTarget:
    """Return the target that `spec` names; TargetError says what to do if it cannot be reached or started.

    spec: a built-in name (`triton-docker` takes options: `triton-docker?image=NAME`), `grpc://host:port` or
    `http://host:port` of a running Triton, `mutant:NAME`, `module:attribute` of an adapter, or a name in the entry point
    group `batchproof.targets`.
    """
    check_timeouts()
    installed = {point.name: point for point in metadata.entry_points(group=GROUP)}
    if spec in BUILT_IN:
        return _made(_load(BUILT_IN[spec], spec))
    if (word := spec.partition("?")[0]) in WITH_OPTIONS:
        return _made(_load(BUILT_IN[word], spec), spec)
    if "://" in spec:
        scheme = urlsplit(spec).scheme
        if scheme not in SCHEMES:
            raise UnknownTarget(f"unknown scheme '{scheme}://' in --target {spec}: there are grpc:// and http://")
        return _made(_load(SCHEMES[scheme], spec), spec)
    if spec.startswith("mutant:"):
        from batchproof.targets.virtual import VirtualTarget

        return full(VirtualTarget(mutant=spec.partition(":")[2]))
    if spec in installed:
        return _made(installed[spec].load())
    if ":" in spec:
        with within("DEPLOY_S", f"--target {spec}"):
            return _made(_load(spec, spec))
    names = sorted({*BUILT_IN, *installed})
    raise UnknownTarget(
        f"unknown target '{spec}': there are {', '.join(names)}, grpc://host:port, http://host:port, mutant:NAME and "
        "module:attribute"
    )


def _load(path: str, spec: str) -> Callable[..., Any]:
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise UnknownTarget(f"--target {spec}: there is no module '{error.name}' to import") from None
        extra = {"torch": "reference", "pytriton": "triton", "litserve": "litserve"}.get(error.name or "")
        how = f"pip install 'batchproof[{extra}]'" if extra else f"install '{error.name}'"
        raise TargetError(f"--target {spec} needs the module '{error.name}', which is not installed: {how}") from None
    except AttributeError:
        raise UnknownTarget(f"--target {spec}: module '{module}' has no '{attribute}'") from None
    except Exception as error:
        raise TargetError(_broken(spec, error)) from error


def _broken(what: object, error: Exception) -> str:
    return f"{what} cannot be started: {type(error).__name__}: {error}"


def _made(adapter: Any, *arguments: str) -> FullTarget:
    """Return the target of a class, a factory or an instance; TargetError names the verb that it lacks."""
    what = arguments[0] if arguments else getattr(adapter, "__qualname__", adapter)
    make = (callable(adapter) and not hasattr(adapter, "info")) or isinstance(adapter, type)
    try:
        target = adapter(*arguments) if make else adapter
    except Exception as error:
        raise error if isinstance(error, TargetError) else TargetError(_broken(what, error)) from error
    for verb in ("info", "deploy"):
        if not hasattr(target, verb):
            raise TargetError(f"{adapter!r} is not a target: it has no `{verb}` (see docs/adapters.md)")
    return full(target)
