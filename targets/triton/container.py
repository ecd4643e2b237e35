"""Target `triton-docker`: a Triton image in a container that is created here, and removed whatever happens.

Options in the target's query: `triton-docker?image=NAME&gpus=all&shm=256m&ready=120` (see docs/docker.md).
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import signal
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

from batchproof.host.announce import announce
from batchproof.host.lives import PROC
from batchproof.targets.docker.engine import Engine, connect, is_absent, need_image, reason_of, sweep
from batchproof.targets.docker.labels import labels
from batchproof.targets.kit.processes import tail
from batchproof.targets.protocol import TargetError, UnknownTarget
from batchproof.targets.triton import kill_stub as stubs
from batchproof.targets.triton.owned import SHM_NEEDED, OwnTriton, flags, wait_ready

NAME = "triton-docker"
TAG = "24.10-py3"  # Triton 2.51.0, as the embedded server
IMAGE = f"nvcr.io/nvidia/tritonserver:{TAG}"
MODELS = "batchproof-models"  # below the container's root
HTTP, GRPC, METRICS = "8000/tcp", "8001/tcp", "8002/tcp"
SETTLE_S = 1.0
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
REFUSALS = (
    (
        "could not select device driver",
        "it cannot use GPUs: install NVIDIA's container toolkit, or leave out gpus",
    ),
    ("executable file not found", "there is no tritonserver in this image"),
    ("port is already allocated", "it cannot publish the server's ports"),
    ("external connectivity", "it cannot publish the server's ports"),
    ("bind", "it cannot publish the server's ports"),
)


def docker_triton(spec: str = NAME) -> OwnTriton:
    """Start the container and return the target; TargetError if there is no engine, no image, or no server in the image."""
    options = Options.read(spec)
    return OwnTriton(lambda: ContainerServer(connect(), options), reached=options.spec)


@dataclass(frozen=True)
class Options:
    """The options in `--target triton-docker?...`. gpus: `all`, a number, or `device=IDS`; shm: bytes; ready: seconds."""

    image: str = IMAGE
    gpus: str = ""
    shm: str = "256m"
    ready: str = "120"

    @classmethod
    def read(cls, spec: str) -> Options:
        """Return the options in a target's name; UnknownTarget says which of them is wrong."""
        pairs = parse_qsl(spec.partition("?")[2], keep_blank_values=True)
        known = [field.name for field in fields(cls)]
        for key, value in pairs:
            if key not in known:
                raise UnknownTarget(f"--target {spec}: unknown option {key}: choose from {', '.join(known)}")
            if not value or [one for one, _ in pairs].count(key) > 1:
                raise UnknownTarget(f"--target {spec}: give {key} one value")
        options = cls(**dict(pairs))
        if options.shm_bytes < SHM_NEEDED:
            raise UnknownTarget(
                f"--target {spec}: shm={options.shm} is too small: Triton's Python backend needs {SHM_NEEDED >> 20}m, "
                "and a megabyte more for each model"
            )
        if not options.ready.isdigit() or not int(options.ready):
            raise UnknownTarget(f"--target {spec}: ready must be a number of seconds, not '{options.ready}'")
        if options.gpus not in ("", "all") and not options.gpus.isdigit() and not options.gpus.startswith("device="):
            raise UnknownTarget(f"--target {spec}: gpus must be all, a number, or device=IDS, not '{options.gpus}'")
        return options

    @property
    def spec(self) -> str:
        """The target's name with these options. Options with their default value are left out, except for the image."""
        default = Options()
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {key: value for key, value in values.items() if key == "image" or value != getattr(default, key)}
        return f"{NAME}?" + "&".join(f"{key}={quote(value, safe='/:@,=')}" for key, value in given.items())

    @property
    def shm_bytes(self) -> int:
        """Bytes of shared memory."""
        number, unit = self.shm.rstrip("kmgbKMGB"), self.shm.lower().rstrip("b")[-1:]
        if not number.isdigit():
            raise UnknownTarget(f"shm must be a size such as 256m or 1g, not '{self.shm}'")
        return int(number) << {"k": 10, "m": 20, "g": 30}.get(unit, 0)

    def devices(self) -> list[dict[str, Any]]:
        """Return the engine's device requests."""
        if not self.gpus:
            return []
        request: dict[str, Any] = {"Driver": "", "Count": 0, "DeviceIDs": [], "Capabilities": [["gpu"]], "Options": {}}
        if self.gpus.startswith("device="):
            return [{**request, "DeviceIDs": self.gpus.removeprefix("device=").split(",")}]
        return [{**request, "Count": -1 if self.gpus == "all" else int(self.gpus)}]


class ContainerServer:
    """One container with one tritonserver, its ports published by the engine, its repository filled by copying."""

    same_host = False
    temporary: Path | None = None

    def __init__(self, engine: Engine, options: Options) -> None:
        self._engine, self._options = engine, options
        self._name = f"batchproof-{os.getpid()}-{secrets.token_hex(6)}"
        self._container: Any = None
        self.grpc = self.metrics = ""
        self.process_group = 0
        sweep(engine)
        image = need_image(engine, options.image)
        announce(f"starting {options.image}")
        try:
            self._start(image)
        except BaseException:
            self.stop()
            raise

    def _start(self, image: Any) -> None:
        options, bind = self._options, self._engine.bind
        entry = (image.attrs.get("Config") or {}).get("Entrypoint") or []
        try:
            self._container = self._engine.client.containers.create(
                options.image,
                command_line(entry),
                name=self._name,
                labels=labels(os.getpid()),
                ports=dict.fromkeys((HTTP, GRPC, METRICS), (bind, None)),
                shm_size=options.shm_bytes,
                environment=THREADS,
                device_requests=options.devices(),
                log_config={"Type": "json-file", "Config": {}},  # it can be read back, whatever the engine's default is
            )
            self.write({})
            self._container.start()
        except TargetError:
            raise
        except Exception as error:
            raise TargetError(refused(self._engine.host, options.image, reason_of(error))) from None
        if why := self.ended():
            raise TargetError(why)
        ports = self._container.attrs["NetworkSettings"]["Ports"]
        http, self.grpc, self.metrics = (
            f"{self._engine.address}:{published(ports, port)}" for port in (HTTP, GRPC, METRICS)
        )
        wait_ready(http, int(options.ready), self, " (give it more with the option ready=SECONDS)")
        self.process_group = process_group(self._container.attrs["State"], self._container.id)

    def write(self, files: Mapping[str, bytes]) -> None:
        """Copy files into the model repository: path inside it -> content."""
        try:
            done = self._container.put_archive("/", archive(MODELS, files))
        except Exception as error:
            raise TargetError(f"cannot copy models into the container {self._name}: {reason_of(error)}") from None
        if not done:
            raise TargetError(f"cannot copy models into the container {self._name}")

    def remove(self, name: str) -> None:
        """Remove a model's folder."""
        with contextlib.suppress(Exception):  # then it stays, unloaded, until the container is removed
            self._container.exec_run(["rm", "-rf", f"/{MODELS}/{name}"])

    def log(self) -> str:
        """Return all that the server has logged so far, as far as the engine has read it."""
        with contextlib.suppress(Exception):
            return str(self._container.logs().decode("utf-8", "replace"))
        return ""

    def log_after(self, before: str) -> str:
        """Return what was logged after `before`: the engine reads it a little later than the server answers."""
        deadline, last = time.monotonic() + SETTLE_S, ""
        while time.monotonic() < deadline:
            new = self.log()[len(before) :]
            if new and new == last:
                break
            last = new
            time.sleep(0.05)
        return last

    def ended(self) -> str:
        """Return how the container ended, or an empty string while it runs."""
        try:
            self._container.reload()
        except Exception as error:
            lost = f"cannot be inspected any more: {reason_of(error)}"
            how = "was removed by something else" if is_absent(error) else lost
            return f"the container {self._name} {how}"
        how = end_of(self._container.attrs["State"])
        return f"the container {self._name} {how}; the end of its log:\n{tail(self.log())}" if how else ""

    def pause(self) -> None:
        """Freeze the container."""
        self._container.pause()

    def resume(self) -> None:
        """Let it go on."""
        self._container.unpause()

    def kill_instance(self, model: str) -> bool:
        """Kill the process of one of a model's instances; False if none was found."""
        killing = Path(stubs.__file__).read_text(encoding="utf-8")
        return bool(self._container.exec_run(["python3", "-c", killing, model]).exit_code == 0)

    def stop(self) -> None:
        """Remove the container, or else leave that to the next run. Safe to call twice; never raises."""
        for _ in range(3):
            try:
                self._engine.client.api.remove_container(self._name, force=True, v=True)
            except Exception as error:
                if is_absent(error):
                    break
                time.sleep(0.2)
        with contextlib.suppress(Exception):
            self._engine.client.close()


def command_line(entry: Sequence[str]) -> list[str]:
    """Return the command for an image with this entry point: only the options if that is the server, else the name too."""
    options = flags(model_repository=f"/{MODELS}")
    return options if entry and Path(entry[-1]).name == "tritonserver" else ["tritonserver", *options]


def archive(folder: str, files: Mapping[str, bytes]) -> bytes:
    """Return a tar of `folder` with these files in it."""
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w", format=tarfile.PAX_FORMAT) as tar:
        parents = {parent for name in files for parent in Path(folder, name).parents}
        for parent in sorted({Path(folder), *parents} - {Path()}):
            tar.addfile(_entry(parent.as_posix(), tarfile.DIRTYPE, 0o755))
        for name, content in files.items():
            one = _entry(f"{folder}/{name}", tarfile.REGTYPE, 0o644)
            one.size = len(content)
            tar.addfile(one, io.BytesIO(content))
    return into.getvalue()


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.mode, one.mtime = kind, mode, time.time()  # Triton looks at the date to see what is new
    return one


def published(ports: Mapping[str, Any], port: str) -> int:
    """Return the port under which the engine has published this one; TargetError if it has not."""
    for mapping in ports.get(port) or ():
        if str(mapping.get("HostPort", "")).isdigit():
            return int(mapping["HostPort"])
    raise TargetError(f"the engine has not published port {port} of the container: it says {dict(ports)}")


def end_of(state: Mapping[str, Any]) -> str:
    """Return how a container ended, from the engine's `State`, or an empty string while it runs."""
    code = int(state.get("ExitCode") or 0)
    if state.get("Paused"):
        return "is paused: unpause it with docker unpause"
    if state.get("Running") or state.get("Status") in ("created", "restarting"):
        return ""
    if state.get("OOMKilled"):
        return f"was killed because its memory was used up (OOMKilled, exit code {code})"
    error = f": {state['Error']}" if state.get("Error") else ""
    if code > 128 and code - 128 in [one.value for one in signal.Signals]:
        return f"was ended by {signal.Signals(code - 128).name} (exit code {code}){error}"
    return f"ended with exit code {code}{error}"


def refused(host: str, image: str, why: str) -> str:
    """Return why the engine does not start a container of this image, and what to do."""
    meaning = next((f"{words} ({why})" for pattern, words in REFUSALS if pattern in why), why)
    return f"the Docker engine at {host} does not start {image}: {meaning}"


def process_group(state: Mapping[str, Any], identity: str, proc: Path = PROC) -> int:
    """Return the group of a container's first process as this kernel numbers it; 0 if it is not visible from here."""
    pid = state.get("Pid") or 0
    with contextlib.suppress(OSError, IndexError, ValueError):
        if pid and identity in (proc / str(pid) / "cgroup").read_text(encoding="utf-8"):
            return int((proc / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[2])
    return 0
