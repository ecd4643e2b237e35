"""`batchproof image build`: builds a CPU-only Triton image from the embedded server, without any registry."""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from batchproof.host.announce import announce
from batchproof.host.scratch import scratch
from batchproof.targets.docker.engine import Engine, connect, reason_of
from batchproof.targets.protocol import TargetError
from batchproof.targets.triton import rootfs
from batchproof.targets.triton.embedded import Layout, wheel

BASES = ("auto", "mmdebstrap", "host")
BASE_S = 900
LABEL = "batchproof.image"
SETTINGS = (
    f"ENV PATH=/{rootfs.HOME}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    f"ENV LD_LIBRARY_PATH=/{rootfs.HOME}/lib:/{rootfs.LOCAL}/lib",
    "ENV PYTHONDONTWRITEBYTECODE=1",
    'ENTRYPOINT ["tritonserver"]',
    "EXPOSE 8000 8001 8002",
)
PASSWD = "root:x:0:0:root:/root:/bin/bash\n"  # noqa: S105 - of a system that has no user but root


@dataclass(frozen=True)
class Built:
    """An image that was built."""

    tag: str
    base: str
    size: int  # bytes
    seconds: float


def build(tag: str, base: str = "auto") -> Built:
    """Build the image and import it into the engine under this name; TargetError says what is missing."""
    started = time.monotonic()
    engine = connect()
    root, libraries = wheel("batchproof image build")
    base, suite = chosen(base, codename(), shutil.which("mmdebstrap") is not None)
    with tempfile.TemporaryDirectory(prefix=scratch()) as folder:
        system = Path(folder) / "rootfs.tar"
        if base == "mmdebstrap":
            announce(f"installing {suite} with mmdebstrap, which takes minutes")
            minimal = Path(folder) / "base.tar"
            _run(rootfs.mmdebstrap(suite, minimal))
            announce("writing the root file system")
            write(system, rootfs.SUITES[suite], root, libraries, minimal=minimal)
        else:
            announce("copying this machine's Python")
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            write(system, version, root, libraries, libpython=Layout.find().libpython)
        announce(f"importing {tag}")
        _import(engine, system, tag, f"{base} {suite}".strip())
    size = int(engine.client.images.get(tag).attrs["Size"])
    return Built(tag, f"{base} {suite}".strip(), size, time.monotonic() - started)


def chosen(base: str, suite: str, installed: bool) -> tuple[str, str]:
    """Return the base and the suite to install; TargetError if this machine cannot make it.

    suite: this machine's. installed: whether mmdebstrap is installed.
    """
    if base == "host" or (base == "auto" and not (installed and suite in rootfs.SUITES)):
        return "host", ""
    if not installed:
        raise TargetError("--base mmdebstrap: mmdebstrap is not installed (`apt install mmdebstrap`); or use --base host")
    if suite not in rootfs.SUITES:
        raise TargetError(f"--base mmdebstrap: '{suite}' is not one of {', '.join(rootfs.SUITES)}: use --base host")
    return "mmdebstrap", suite


def codename() -> str:
    """Return this system's codename, such as `bookworm`, or an empty string if it does not have one."""
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    return ""


def write(
    into: Path, python: str, root: Path, libraries: Path, *, minimal: Path | None = None, libpython: Path | None = None
) -> None:
    """Write the root file system as a tar file: a base, and the wheel's server for this Python version.

    minimal: a tar of the base system; without it, libpython: where this machine's shared libpython is.
    """
    tar = rootfs.Tar(into)
    with contextlib.closing(tar):
        if minimal is not None:
            tar.base(minimal)
        elif libpython is not None:
            for name in ("dev", "etc", "proc", "sys", "root", "run", "var"):
                tar.folder(name)
            tar.folder("tmp", 0o1777)
            tar.link("bin", "usr/bin")
            for source, place in rootfs.host_files(root, libraries, libpython):
                tar.file(source, place)
            tar.link(f"{rootfs.LOCAL}/lib/python{python}/dist-packages", "site-packages")
            tar.text("etc/passwd", PASSWD)
        for source, place in rootfs.server_files(root, libraries, python):
            tar.file(source, place)


def _import(engine: Engine, system: Path, tag: str, base: str) -> None:
    repository, _, version = tag.rpartition(":") if ":" in tag.rpartition("/")[2] else (tag, "", "latest")
    wheel_version = metadata.version("nvidia-pytriton")
    labels = f'LABEL {LABEL}="nvidia-pytriton {wheel_version}" batchproof.base="{base}"'
    before = None
    with contextlib.suppress(Exception):
        before = engine.client.images.get(tag)
    try:
        answer = engine.client.api.import_image(
            src=str(system), repository=repository, tag=version, changes=[*SETTINGS, labels]
        )
    except Exception as error:
        raise TargetError(f"the engine at {engine.host} cannot import the image: {reason_of(error)}") from None
    if why := refusal(str(answer)):
        raise TargetError(f"the engine at {engine.host} cannot import the image: {why}")
    if before is not None and LABEL in (before.labels or {}):
        with contextlib.suppress(Exception):  # another name, or a container, still uses it
            engine.client.images.remove(before.id)


def refusal(answer: str) -> str:
    """Return the error in the engine's lines of JSON, or an empty string."""
    for line in answer.splitlines():
        with contextlib.suppress(ValueError):
            if error := json.loads(line).get("error"):
                return str(error)
    return ""


def _run(command: list[str]) -> None:
    """Run a program. If it takes too long, or if we end first, ask it to end, because it has mounts to undo."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            status = process.wait(BASE_S)
        except BaseException as error:
            process.terminate()
            process.wait(60)
            if isinstance(error, subprocess.TimeoutExpired):
                raise TargetError(f"{command[0]} took longer than {BASE_S} s") from None
            raise
        if status:
            output.seek(0)
            end = output.read().decode("utf-8", "replace").strip().splitlines()[-8:]
            raise TargetError("\n".join([f"{command[0]} ended with status {status}; or use --base host:", *end]))
