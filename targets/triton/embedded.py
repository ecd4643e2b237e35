"""Target `triton`: the tritonserver inside the `nvidia-pytriton` wheel, started here and stopped whatever happens."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from batchproof.host.lives import born
from batchproof.targets.deadlines import more_time, timeout_s
from batchproof.targets.kit.ports import free_ports
from batchproof.targets.kit.processes import Guarded
from batchproof.targets.protocol import TargetError, UnknownTarget
from batchproof.targets.triton.forgotten import remove_forgotten
from batchproof.targets.triton.kill_stub import kill_stub
from batchproof.targets.triton.owned import SHM_NEEDED, OwnTriton, flags, wait_ready

PREFIX = "batchproof-triton-"
STRATEGY_FUNCTIONS = (
    "TRITONBACKEND_ModelBatcherInitialize",
    "TRITONBACKEND_ModelBatchInitialize",
    "TRITONBACKEND_ModelBatchIncludeRequest",
    "TRITONBACKEND_ModelBatchFinalize",
    "TRITONBACKEND_ModelBatcherFinalize",
)
SHM = Path("/dev/shm")  # noqa: S108 - where POSIX shared memory is


def embedded_triton(strategy: str = "") -> OwnTriton:
    """Start the server and return the target; TargetError if this machine cannot run it.

    strategy: the path of a library for custom batching, which every model gets (see docs/custom.md).
    """
    own = own_strategy(strategy) if strategy else b""
    return OwnTriton(EmbeddedServer, reached="triton", strategy=own, limited=lambda limits: EmbeddedServer(limits=limits))


def own_strategy(path: str) -> bytes:
    """Return a user's library for custom batching; UnknownTarget if the file is not one."""
    try:
        library = Path(path).read_bytes()
    except OSError as error:
        raise UnknownTarget(f"--target triton?strategy={path}: cannot read the library ({error.strerror})") from None
    if missing := [name for name in STRATEGY_FUNCTIONS if name.encode() not in library]:
        raise UnknownTarget(f"--target triton?strategy={path}: the library does not define {', '.join(missing)}")
    return library


class EmbeddedServer:
    """One tritonserver process in a process group of its own, with its own ports, repository, log and shared memory.

    completes: it completes configurations, as Triton does by default. address: where it listens. limits: the units of each
    resource of its rate limiter; without any it has none.
    """

    same_host = True

    def __init__(
        self, *, completes: bool = False, address: str = "127.0.0.1", limits: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        layout = Layout.find()
        _need_shared_memory()
        _sweep()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.log_path = self.folder / "tritonserver.log"
        self.shm_prefix = f"batchproof_{os.getpid()}_{secrets.token_hex(4)}_"
        self.temporary = self.folder / "tmp" if limits else None
        self._process: Guarded | None = None
        self._began = time.time()
        try:
            self._start(layout, limits, completes=completes, address=address)
        except OSError as error:
            self.stop()
            why = f"cannot create the server's folder {self.folder} ({error.strerror})"
            raise TargetError(f"{why}: free some space, or choose another place with TMPDIR") from None
        except BaseException:
            self.stop()
            raise

    def _start(self, layout: Layout, limits: Mapping[str, int], *, completes: bool, address: str) -> None:
        http_port, grpc_port, metrics_port = free_ports(3)
        self.grpc, self.metrics = f"{address}:{grpc_port}", f"{address}:{metrics_port}"
        self.http = f"{address}:{http_port}"
        (self.folder / "models").mkdir()
        (self.folder / "tmp").mkdir()
        backends = layout.backends(self.folder / "backends")
        command = [
            str(layout.binary),
            *flags(
                completes=completes,
                model_repository=str(self.folder / "models"),
                backend_directory=str(backends),
                cache_directory=str(layout.caches),
                backend_config=f"python,shm-region-prefix-name={self.shm_prefix}",
                http_port=str(http_port),
                grpc_port=str(grpc_port),
                metrics_port=str(metrics_port),
                **dict.fromkeys(("http_address", "grpc_address", "metrics_address"), address),
            ),
            *(["--rate-limit=execution_count"] if limits else []),
            *(f"--rate-limit-resource={name}:{units}" for name, units in limits.items()),
        ]
        self._process = Guarded(
            command,
            env={**layout.environment(), "TMPDIR": str(self.folder / "tmp")},
            cwd=self.folder,
            log=self.log_path,
            ends_by=signal.SIGKILL,  # asked to end, it unloads one model after another, which takes seconds
            grace_s=0,
        )
        wait_ready(f"{address}:{http_port}", timeout_s("READY_S"), self, f" ({more_time('READY_S')})")

    def ended(self) -> str:
        """Return how the server process ended, or an empty string while it runs."""
        return self._process.ended() if self._process else ""

    def write(self, files: Mapping[str, bytes]) -> None:
        """Put files into the model repository: path inside it -> content."""
        for name, content in files.items():
            path = self.folder / "models" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def remove(self, name: str) -> None:
        """Remove a model's folder."""
        shutil.rmtree(self.folder / "models" / name, ignore_errors=True)

    def log(self) -> str:
        """Return all that the server has logged so far."""
        with contextlib.suppress(OSError):
            return self.log_path.read_bytes().decode("utf-8", "replace")
        return ""

    def log_after(self, before: str) -> str:
        """Return what was logged after `before`."""
        return self.log()[len(before) :]

    @property
    def process_group(self) -> int:
        """The server's process group, which its model processes share; 0 before it has started."""
        return self._process.pid if self._process else 0

    def pause(self) -> None:
        """Suspend the server and all its model processes."""
        if self._process is not None:
            self._process.pause()

    def resume(self) -> None:
        """Resume them."""
        if self._process is not None:
            self._process.resume()

    def kill_instance(self, model: str) -> bool:
        """Kill the process of one of a model's instances; False if none was found."""
        return kill_stub(model, self.process_group)

    def stop(self) -> None:
        """End the server, then what is left of its process group, and remove its files and shared memory.

        Safe to call twice; never raises.
        """
        if self._process is not None:
            self._process.finish()
            self._process = None
            remove_forgotten(self._began)
        for region in SHM.glob(f"{self.shm_prefix}*"):
            region.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def wheel(wanted_by: str) -> tuple[Path, Path]:
    """Return the folders of the server and of its libraries in the installed wheel; TargetError if it is not installed."""
    spec = find_spec("pytriton")
    if spec is None or not spec.origin:
        raise TargetError(f"{wanted_by} needs the embedded server: pip install 'batchproof[triton]' (Python 3.10-3.12)")
    package = Path(spec.origin).parent
    root = package / "tritonserver"
    if not (root / "bin" / "tritonserver").exists():
        raise TargetError(f"this nvidia-pytriton has no embedded tritonserver in {root}: install nvidia-pytriton==0.7.0")
    return root, package.parent / "nvidia_pytriton.libs"


class Layout:
    """Where the wheel keeps its parts, and what the Python backend needs around them."""

    def __init__(self, root: Path, libraries: Path, libpython: Path) -> None:
        self.binary = root / "bin" / "tritonserver"
        self.caches = root / "caches"
        self._root, self._libraries, self.libpython = root, libraries, libpython

    @classmethod
    def find(cls) -> Layout:
        """Find the embedded server; TargetError says what is missing."""
        root, libraries = wheel("--target triton")
        name = f"libpython{sys.version_info.major}.{sys.version_info.minor}.so.1.0"
        places = [sysconfig.get_config_var("LIBDIR"), f"{sys.base_prefix}/lib", f"/usr/lib/{os.uname().machine}-linux-gnu"]
        for place in filter(None, places):
            if (Path(place) / name).exists():
                return cls(root, libraries, Path(place))
        package = f"libpython{sys.version_info.major}.{sys.version_info.minor}"
        raise TargetError(f"Triton's Python backend needs {name}: on Debian and Ubuntu, apt install {package}")

    def backends(self, into: Path) -> Path:
        """Copy the Python backend with the stub for this Python (the wheel's own folder stays as it was installed)."""
        shutil.copytree(self._root / "backends", into)
        stub = into / "python" / "triton_python_backend_stub"
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        source = self._root / "python_backend_stubs" / version / stub.name
        if not source.exists():
            raise TargetError(f"the embedded Triton has no Python backend for Python {version}: use 3.10, 3.11 or 3.12")
        shutil.copy(source, stub)
        stub.chmod(0o755)
        return into

    def environment(self) -> dict[str, str]:
        """Return the server's environment: the stub uses the site-packages of the first `python` on PATH."""
        keep = {key: value for key, value in os.environ.items() if not key.startswith(("TRITON", "PYTHON", "LD_"))}
        keep["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{keep.get('PATH', os.defpath)}"
        keep["LD_LIBRARY_PATH"] = f"{self.libpython}{os.pathsep}{self._libraries}"
        keep.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        return keep


def _need_shared_memory() -> None:
    """Raise TargetError if there is too little shared memory: then a Python model's stub dies and loading hangs."""
    try:
        stat: Any = os.statvfs(SHM)
    except OSError:
        raise TargetError(f"Triton's Python backend needs POSIX shared memory, and there is no {SHM}") from None
    if (free := stat.f_bavail * stat.f_frsize) < SHM_NEEDED:
        raise TargetError(
            f"{SHM} has {free >> 20} MiB free, and Triton's Python backend needs {SHM_NEEDED >> 20} MiB: "
            "free some, or give the container more with --shm-size=256m"
        )


def _sweep() -> None:
    """Remove what killed runs left behind: folders and shared memory with the id of a dead process in their names."""
    for path in [*Path(tempfile.gettempdir()).glob(f"{PREFIX}*"), *SHM.glob("batchproof_*")]:
        owner = path.name.removeprefix(PREFIX).removeprefix("batchproof_").split("-")[0].split("_")[0]
        if owner.isdigit() and not born(owner):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
