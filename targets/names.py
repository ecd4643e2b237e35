"""Finds the target that `--target` names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module, metadata
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from batchproof.targets import environments
from batchproof.targets.deadlines import check_timeouts, within
from batchproof.targets.hooks import see_this_folder
from batchproof.targets.kit.interpreter import Missing
from batchproof.targets.protocol import TargetError, TargetInfo, UnknownTarget
from batchproof.targets.verbs import FullTarget, full, unusual

READS_ITSELF = ("triton-docker",)  # the target's own word, with its options
GROUP = "batchproof.targets"
BUILT_IN = {
    "reference": "batchproof.targets.reference:ReferenceTarget",
    "virtual": "batchproof.targets.virtual:VirtualTarget",
    "continuous": "batchproof.targets.engines.reference:ContinuousTarget",
    "null": "batchproof.targets.null:NullTarget",
    "triton": "batchproof.targets.triton.embedded:embedded_triton",
    "triton-docker": "batchproof.targets.triton.container:docker_triton",
    "litserve": "batchproof.targets.litserve:LitServeTarget",
    "async-batcher": "batchproof.targets.stacks.async_batcher:AsyncBatcherTarget",
    "batched": "batchproof.targets.stacks.batched:BatchedTarget",
    "batched-aio": "batchproof.targets.stacks.batched:AsyncBatchedTarget",
    "bentoml": "batchproof.targets.stacks.bentoml:BentoMLTarget",
    "kserve": "batchproof.targets.stacks.kserve:KServeTarget",
    "llamacpp": "batchproof.targets.engines.llamacpp:LlamaCppTarget",
    "mlserver": "batchproof.targets.stacks.mlserver:MLServerTarget",
    "mosec": "batchproof.targets.stacks.mosec:MosecTarget",
    "onnxruntime-genai": "batchproof.targets.engines.onnxruntime_genai:OnnxRuntimeGenAITarget",
    "openvino": "batchproof.targets.engines.openvino:OpenVinoTarget",
    "pytriton": "batchproof.targets.stacks.pytriton:PyTritonTarget",
    "ray": "batchproof.targets.stacks.ray:RayTarget",
    "sglang": "batchproof.targets.engines.sglang:SglangTarget",
    "vllm": "batchproof.targets.engines.vllm:VllmTarget",
    "vllm-http": "batchproof.targets.engines.vllm:VllmHttpTarget",
    "torchserve": "batchproof.targets.stacks.torchserve:TorchServeTarget",
    "transformers": "batchproof.targets.engines.transformers:TransformersTarget",
}
EXTRAS = {  # the extra that brings a module
    "torch": "reference", "pytriton": "triton", "litserve": "litserve", "async_batcher": "peers", "batched": "peers",
}  # fmt: skip
FORMS = (  # besides a name
    "grpc://host:port", "http://host:port", "openai:http://host:port", "mutant:NAME", "stdio:COMMAND", "module:attribute",
)  # fmt: skip
OPENAI = "batchproof.targets.engines.openai:OpenAITarget"
STDIO = "batchproof.targets.stdio:stdio"
SCHEMES = {
    "grpc": "batchproof.targets.triton.target:running_triton",
    "http": "batchproof.targets.triton.target:running_triton",
}


def resolve(spec: str) -> FullTarget:
    """Return the target that `spec` names; TargetError says what to do if it cannot be reached or started.

    spec: a built-in name, `grpc://host:port` or `http://host:port` of a running Triton, `openai:http://host:port` of a
    server of the OpenAI API, `mutant:NAME`, `stdio:COMMAND ...` (a program that speaks JSON lines), `module:attribute` of an
    adapter, or a name in the entry point group `batchproof.targets`. What follows a `?` are options for the adapter:
    `litserve?python=/path/to/python` calls it with `python="/path/to/python"`.
    """
    target = unchecked(spec)
    if not isinstance(target.info, TargetInfo):
        kind = type(target.info).__name__
        raise TargetError(f"{spec} is not a target: its `info` is {kind}, and not a TargetInfo (see docs/adapters.md)")
    if flaws := target.info.flaws():
        raise TargetError(f"{spec} is not a target: of its `info`, {'; '.join(flaws)} (see docs/adapters.md)")
    return target


def unchecked(spec: str) -> FullTarget:
    """Return the target that `spec` names, as `resolve` does, also if its `info` is of another type."""
    check_timeouts()
    if spec.startswith("stdio:"):
        with within("DEPLOY_S", f"--target {spec}"):
            return _made(_load(STDIO, spec), spec)
    if spec.startswith("openai:"):
        with within("DEPLOY_S", f"--target {spec.partition('@')[0]}"):
            return _made(_load(OPENAI, spec), spec)
    word, _, query = spec.partition("?")
    if word in READS_ITSELF:
        return _made(_load(BUILT_IN[word], spec), spec)
    if "://" in spec:
        scheme = urlsplit(spec).scheme
        if scheme not in SCHEMES:
            raise UnknownTarget(f"unknown scheme '{scheme}://' in --target {spec}: choose from grpc:// and http://")
        return _made(_load(SCHEMES[scheme], spec), spec)
    if spec.startswith("mutant:"):
        return full(_mutant(spec.partition(":")[2]))
    # Every distribution's metadata is read for it, which takes longer than all else here.
    installed = {point.name: point for point in metadata.entry_points(group=GROUP)} if word not in BUILT_IN else {}
    if word in installed:
        return _with_options(installed[word].load(), spec, query)
    if word in BUILT_IN or ":" in word:
        if word not in BUILT_IN:
            see_this_folder()
        with within("DEPLOY_S", f"--target {spec}"):
            return _in_an_environment(_load(BUILT_IN.get(word, word), spec), word, query)
    names = sorted({*BUILT_IN, *installed})
    near = get_close_matches(word, names, 1)
    meant = f"did you mean '{near[0]}'? Choose from" if near else "choose from"
    raise UnknownTarget(f"unknown target '{spec}': {meant} {', '.join([*names, *FORMS[:-1]])} and {FORMS[-1]}")


def _mutant(name: str) -> Any:
    """Return the target of a reference with one wrong line: an engine, or a dynamic batcher."""
    from batchproof.reference_batcher.mutants import UnknownMutant, mutant_of
    from batchproof.targets.engines.reference import ContinuousTarget
    from batchproof.targets.virtual import VirtualTarget

    try:
        engine = mutant_of(name).discipline == "continuous"
    except UnknownMutant as error:
        raise UnknownTarget(str(error)) from None
    return ContinuousTarget(mutant=name) if engine else VirtualTarget(mutant=name)


def _load(path: str, spec: str) -> Callable[..., Any]:
    module, _, attribute = path.partition(":")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise UnknownTarget(f"--target {spec}: there is no module '{error.name}' to import") from None
        extra = EXTRAS.get(error.name or "")
        how = f"pip install 'batchproof[{extra}]'" if extra else f"install '{error.name}'"
        raise TargetError(f"--target {spec} needs the module '{error.name}', which is not installed: {how}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise TargetError(_broken(spec, error)) from error
    try:
        return getattr(found, attribute)  # type: ignore[no-any-return]
    except AttributeError:
        raise UnknownTarget(f"--target {spec}: module '{module}' has no '{attribute}'") from None


def _broken(what: object, error: BaseException) -> str:
    why = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else f"it has raised {unusual(error)}"
    return f"{what} cannot be started: {why}"


def _in_an_environment(adapter: Any, word: str, query: str) -> FullTarget:
    """Return the target of an adapter; if this interpreter lacks the stack, that of the environment that was made for it."""
    try:
        return _with_options(adapter, f"{word}?{query}" if query else word, query)
    except Missing as lack:
        if python := environments.made(word):
            query = "&".join(filter(None, (query, f"python={quote(python)}")))
            return _with_options(adapter, f"{word}?{query}", query)
        if word in environments.environments():
            raise TargetError(f"{lack}; or, in an environment of its own: batchproof env make {word}") from None
        raise


def _with_options(adapter: Any, spec: str, query: str) -> FullTarget:
    """Return the target that an adapter makes with these options; what can be seen of it says how to reach it again."""
    if not query:
        return _made(adapter)
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        raise UnknownTarget(f"--target {spec}: write an option as NAME=VALUE, not '{query}'") from None
    known = _options(adapter)
    if unknown := sorted(set(options) - set(known)):
        there = f"choose from {', '.join(known)}" if known else "it has none"
        raise UnknownTarget(f"--target {spec}: unknown option {', '.join(unknown)}: {there}")
    target = _made(adapter, **options)
    if isinstance(target.info, TargetInfo):
        target.info = replace(target.info, reached=spec)
    return target


def _options(adapter: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a class or factory by name; an instance has none."""
    if not callable(adapter) or (hasattr(adapter, "info") and not isinstance(adapter, type)):
        return {}
    return inspect.signature(adapter).parameters


def _made(adapter: Any, *arguments: str, **options: str) -> FullTarget:
    """Return the target of a class, a factory or an instance; TargetError names the verb that it lacks."""
    what = arguments[0] if arguments else getattr(adapter, "__qualname__", adapter)
    make = (callable(adapter) and not hasattr(adapter, "info")) or isinstance(adapter, type)
    try:
        target = adapter(*arguments, **options) if make else adapter
    except (KeyboardInterrupt, TargetError):
        raise
    except BaseException as error:
        raise TargetError(_broken(what, error)) from error
    if lack := _lacking(target):
        # What is there, and is not made by anybody's code, was misspelt; an adapter that is not finished cannot start.
        wrong = TargetError if make or hasattr(target, "info") else UnknownTarget
        raise wrong(f"{_shown(adapter)} is not a target: {lack} (see docs/adapters.md)")
    return full(target)


def _shown(adapter: Any) -> str:
    return f"the module {adapter.__name__}" if isinstance(adapter, ModuleType) else repr(adapter)


def _lacking(target: Any) -> str:
    """Return what an object lacks to be a target, or an empty string. An engine needs no `deploy`."""
    if not hasattr(target, "info"):
        return "it has no `info`"
    continuous = getattr(target.info, "discipline", "") == "continuous"
    verb = "engine" if continuous else "deploy"
    if hasattr(target, verb):
        return ""
    if not continuous and hasattr(target, "engine"):
        return "it has `engine` and no `deploy`: write TargetInfo(..., discipline='continuous') for continuous batching"
    return f"it has no `{verb}`"
