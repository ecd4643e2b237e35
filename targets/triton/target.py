"""Targets `grpc://host:port` and `http://host:port`: a running Triton, into which the witness is loaded.

The embedded server and the container use it too: everything here goes over the network through tritonclient. The URL may
have the option `metrics=PORT` (default 8002; the pending-request gauge is read there). A server that does not load models
on demand can serve the witness itself: `batchproof witness FOLDER` writes the model repository for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import secrets
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.sequence_config import initial_states
from batchproof.targets.deadlines import TooLate
from batchproof.targets.kit.malformed import malformed
from batchproof.targets.kit.routes import Route
from batchproof.targets.protocol import (
    Request,
    Response,
    TargetError,
    TargetInfo,
    UnknownTarget,
    Unsupported,
)
from batchproof.targets.triton.compiled import STATE_BACKEND, STATE_LIBRARY, compiler, state_witness, strategy_library
from batchproof.targets.triton.repository import CONTROL, TritonRepository, folder_of
from batchproof.targets.triton.warm_up import warm_up
from batchproof.targets.triton.wire import GrpcWire, HttpWire, Wire
from batchproof.targets.witness.probe import VERSION
from batchproof.targets.witness_model import TRITON_CLAIMS, witnessed

BEGUN = "batcher_initialize"
STRATEGY_FILE = "1/batchstrategy.so"  # where Triton looks for a batching strategy first
NOTHING_SET = {"defaults": True, "default_batch": 1, "default_delay_ms": 0}  # there are no batches until they are asked for
SERVES_WHAT_IT_IS_SENT = {**NOTHING_SET, "repository": True}
BASIC = BatcherConfig().facts().keys()
UNHEALTHY = "is not healthy"  # what Triton says of a model whose process has died, or was kept from running


def running_triton(url: str) -> TritonTarget:
    """Return the target of `grpc://host:port[?metrics=PORT]` or the same with http; TargetError if it cannot be judged."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    if not parts.hostname or not port:
        raise UnknownTarget(f"--target {url}: write {parts.scheme}://host:port, with the port as a number")
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    if unknown := set(query) - {"metrics"}:
        raise UnknownTarget(f"--target {url}: unknown option {', '.join(sorted(unknown))}: the only option is metrics=PORT")
    if not (metrics := query.get("metrics", "8002")).isdigit():
        raise UnknownTarget(f"--target {url}: metrics must be a port number, not '{metrics}'")
    wire = {"grpc": GrpcWire, "http": HttpWire}[parts.scheme](f"{parts.hostname}:{port}", f"{parts.hostname}:{metrics}")
    try:
        reached = f"{parts.scheme}://{parts.hostname}:{port}" + (f"?metrics={metrics}" if "metrics" in query else "")
        return TritonTarget(wire, reached=reached)
    except BaseException:
        wire.close()
        raise


class TritonTarget:
    """A Triton that is up, with the Python backend.

    Either it loads the witness on demand (--model-control-mode=explicit), or it serves the witness's repository already.
    """

    deploys_at_once = 4  # as many as a Triton loads at the same time by default (--model-load-thread-count)

    def __init__(self, wire: Wire, reached: str, name: str = "triton", claims: dict[str, Any] | None = None) -> None:
        self._wire = wire
        version = wire.version()
        wire.keep()
        self._run = secrets.token_hex(6)
        self._number = itertools.count(1)
        self._serves_witness = not self._install_control(reached)
        given = {**TRITON_CLAIMS, "response_cache": False} if claims is None else claims  # most servers run without a cache
        self.info = TargetInfo(
            name,
            version,
            reached,
            contact="https://github.com/triton-inference-server",
            sight="witness",
            claims={**given, **wire.claims, **({"close": False} if self._serves_witness else SERVES_WHAT_IT_IS_SENT)},
        )

    def deploy_defaults(self) -> TritonDeployment:
        """Load the witness with nothing set but its tensors."""
        if self._serves_witness:
            raise Unsupported("defaults")
        return self.deploy(None)

    def deploy(self, config: BatcherConfig | None, *, again: int = 2) -> TritonDeployment:
        """Load the witness as a new model, or find the one that the server has for this configuration.

        None: with nothing set.
        """
        if self._serves_witness and config is not None:
            name = served_name(config)
            if not self._wire.ready(name):
                raise TargetError(
                    f"{self.info.reached} does not serve '{name}': write its repository again with `batchproof witness`"
                )
        else:
            name = f"batchproof_{self._run}_{next(self._number)}"
            self.load_files(*self._model(config, name))
        text_ids = bool(config and config.sequence and config.sequence.id_type == "TYPE_STRING")
        deployment = TritonDeployment(
            self._wire, name, folder_of(name), ours=not self._serves_witness, text_ids=text_ids
        )
        try:
            deployment.warm_up()
        except TargetError as error:
            with contextlib.suppress(Exception):
                deployment.finish()
            if UNHEALTHY not in str(error) or self._serves_witness or again <= 0:
                raise
            # A busy host has starved the model's process at its start; nothing was judged yet.
            return self.deploy(config, again=again - 1)
        return deployment

    def load(self, proto: Any, source: str) -> None:
        """Load a model with this configuration and one of the witness's sources as `model.py`."""
        self.load_files(proto, {f"1/{file}": text for file, text in witness_sources(source).items()})

    def load_files(self, proto: Any, content: Mapping[str, bytes]) -> None:
        """Load a model with this configuration and these files, by their paths in its folder.

        A model that is loaded already is loaded again only if its configuration differs, whatever its files are.
        """
        if "step" in proto.parameters:  # one of a repository's models, which may be loaded again
            proto.parameters["batchproof_load"].string_value = str(next(self._number))
        self._wire.load(proto.name, proto, content)

    def _model(self, config: BatcherConfig | None, name: str) -> tuple[Any, Mapping[str, bytes]]:
        """Return a model of this configuration with the witness in it, which is in C if the server keeps a state for it."""
        if config is None or config.sequence is None or not config.sequence.state:
            proto = plain_model(name) if config is None else witness_model(config, name).to_proto()
            sources = {f"1/{file}": text for file, text in witness_sources("triton_model.py").items()}
            return proto, sources | _strategy(config)
        model = witnessed(config, name, witness=folder_of(name), clock=str(self._clock))
        library = {f"1/{STATE_LIBRARY}": state_witness()}
        return replace(model, backend=STATE_BACKEND).to_proto(), library | initial_states(config.sequence)

    def remove_files(self, name: str) -> None:
        """Remove what `load_files` has left in the server's repository: nothing, as the server keeps what it was sent."""

    def repository(self, limits: Mapping[str, int] | None = None) -> TritonRepository:
        """Open a repository of models of its own on this server; Unsupported if that cannot be."""
        if self._serves_witness:
            raise Unsupported("repository")
        if limits is not None:
            raise Unsupported("rate_limiter")
        return TritonRepository(self, self._wire, f"{self._run}_{next(self._number)}", self._temporary())

    def _temporary(self) -> Path | None:
        """Return the server's temporary folder if the gates and logs in it are used as they are."""
        return None

    def alive(self) -> str:
        """Return why the server cannot be judged any more, or an empty string."""
        answers = self._wire.live() or self._wire.live()  # twice, because a busy host may be late once
        return "" if answers else f"{self.info.reached} does not answer any more"

    def close(self) -> None:
        """Unload the control model, if it is ours, and disconnect."""
        if not self._serves_witness:
            self._wire.unload(CONTROL)
        self._wire.close()

    def _install_control(self, reached: str) -> bool:
        """Load the control model; False if the server does not load models but already serves it."""
        loaded = True
        try:
            self.load(control_model(), "triton_control.py")
        except TooLate:
            raise
        except TargetError as refused:
            if not self._wire.ready(CONTROL):
                raise TargetError(f"{refused}, or let it serve what `batchproof witness FOLDER` writes") from None
            loaded = False
        answer = self._wire.ask(CONTROL, {"do": "hello", "folder": "batchproof-hello"})
        if answer.get("version") != VERSION:
            raise TargetError(f"{reached}: its witness has version {answer.get('version')}, not {VERSION}")
        self._clock = answer.get("clock", 0)
        self._wire.pending(CONTROL)  # fail now, and not in every rule, if the gauge cannot be read
        return loaded


def control_model() -> Any:
    """Return the configuration of the control model."""
    from tritonclient.grpc import model_config_pb2 as pb

    proto = pb.ModelConfig(name=CONTROL, backend="python", max_batch_size=0)
    proto.input.add(name="ASK", data_type=pb.TYPE_STRING, dims=[1])
    proto.output.add(name="ANSWER", data_type=pb.TYPE_STRING, dims=[1])
    proto.instance_group.add(kind=pb.ModelInstanceGroup.KIND_CPU, count=1)
    return proto


def pbtxt(proto: Any) -> str:
    """Return a configuration as text."""
    from google.protobuf import text_format

    return str(text_format.MessageToString(proto))


def served_name(config: BatcherConfig) -> str:
    """Return the name under which a server that does not load models serves the witness with this configuration."""
    delay_us, timeout_us = config.max_queue_delay_ns // 1000, config.queue_timeout_ns // 1000
    name = f"batchproof_b{config.max_batch_size}_d{delay_us}_i{config.instances}_t{timeout_us}"
    more = json.dumps({key: value for key, value in config.facts().items() if key not in BASIC}, sort_keys=True)
    return name if more == "{}" else f"{name}_{hashlib.sha256(more.encode()).hexdigest()[:8]}"


def witness_model(config: BatcherConfig, name: str) -> BatcherConfig:
    """Return the witness's complete configuration under this name."""
    return witnessed(config, name, witness=folder_of(name))


def plain_model(name: str) -> Any:
    """Return the witness's configuration with what Triton demands, and no more: without batches, rows are a dimension."""
    proto = witness_model(BatcherConfig(), name).to_proto()
    for field in ("max_batch_size", "dynamic_batching", "instance_group"):
        proto.ClearField(field)
    for tensor in (*proto.input, *proto.output):
        tensor.dims.insert(0, -1)
    return proto


def witness_sources(source: str) -> dict[str, bytes]:
    """Return the files of a model's version folder: this source as `model.py`, and the probe."""
    witness = files("batchproof.targets.witness")
    return {"model.py": witness.joinpath(source).read_bytes(), "probe.py": witness.joinpath("probe.py").read_bytes()}


def _strategy(config: BatcherConfig | None) -> dict[str, bytes]:
    """Return the library of the batching strategy that a configuration names, as a file of its version folder, if any."""
    if config is None or not config.strategy:
        return {}
    if not compiler():
        raise Unsupported("a batching strategy, which needs a C compiler (install gcc)")
    return {STRATEGY_FILE: strategy_library()}


class TritonDeployment:
    """One witness model on the server.

    ours: this run loaded it, and so has to unload it. text_ids: its correlation IDs are strings.
    """

    def __init__(self, wire: Wire, name: str, folder: str, *, ours: bool, text_ids: bool = False) -> None:
        self._ours, self._text_ids = ours, text_ids
        self._wire = wire
        self.name = name
        self._folder = folder
        self._cursors: dict[str, int] = {}
        self._begun: list[dict[str, Any]] = []  # of a batching strategy: it was begun before the first drive

    @property
    def route(self) -> Route:
        """How a generator on another machine reaches it."""
        return self._wire.route(self.name)

    def submit(self, request: Request) -> Future[Response]:
        """Send a request."""
        return self._wire.infer(self.name, request, text_ids=self._text_ids)

    def submit_malformed(self) -> Future[Response]:
        """Send a request whose tensor has too few columns."""
        return self._wire.infer(self.name, malformed())

    def statistics(self) -> dict[str, Any]:
        """Return what the server counted: the statistics extension and the metrics."""
        return self._wire.counted(self.name)

    def cancel(self, future: Any) -> None:
        """Cancel a request."""
        self._wire.cancel(future)

    def queued(self) -> int:
        """Return Triton's pending-request gauge: requests accepted and not yet executing, even if staged already."""
        return self._wire.pending(self.name)

    def release(self, token: int) -> None:
        """Open a gate."""
        self._ask(do="release", token=token)

    def log(self) -> list[dict[str, Any]]:
        """Return the new lines of the witness's log."""
        answer = self._ask(do="log", cursors=self._cursors)
        self._cursors = answer["cursors"]
        lines: list[dict[str, Any]] = [*self._begun, *answer["lines"]]
        self._begun = []
        return lines

    def config_pbtxt(self) -> str:
        """Return the configuration as the server has it."""
        from google.protobuf import json_format
        from tritonclient.grpc import model_config_pb2 as pb

        return pbtxt(json_format.ParseDict(self._wire.config(self.name), pb.ModelConfig()))

    def warm_up(self) -> None:
        """Make the first calls before any rule does, because they take tens of milliseconds for a Python model."""
        warm_up(self.name, self._wire.config(self.name), self.submit, text_ids=self._text_ids)
        self._begun = [line for line in self.log() if line.get("hook") == BEGUN]

    def close(self) -> None:
        """Unload the model: Triton serves what is queued and accepts no more."""
        if self._ours:
            self._wire.unload(self.name)

    def finish(self) -> None:
        """Unload and remove the log."""
        self.close()
        if self._ours:
            self._ask(do="remove")

    def _ask(self, **ask: Any) -> dict[str, Any]:
        return self._wire.ask(CONTROL, {"folder": self._folder, **ask})
