"""A PostgreSQL of the tests' own: made in a temporary folder, started on a socket there, and ended and removed with it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

USERS = ("postgres", "nobody")  # the server refuses to run as root
NEEDED = ("initdb", "postgres", "pg_ctl")


class NoPostgres(Exception):
    """There is no PostgreSQL here, or it does not start; the message says why."""


def programs() -> Path:
    """Return the folder of PostgreSQL's programs, the newest if there are several; NoPostgres if there is none."""
    places = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: int(one.parent.name), reverse=True)
    for place in places:
        if all((place / name).exists() for name in NEEDED):
            return place
    raise NoPostgres("PostgreSQL is not installed (apt-get install postgresql)")


@dataclass(frozen=True)
class Server:
    """A server that runs. folder: its data, log and socket. demoted: what its programs are started with."""

    folder: Path
    programs: Path
    user: str

    def url(self, database: str = "postgres") -> str:
        """Return the address of a database in it."""
        return f"postgresql://tester:s3cr3t-word@/{database}?host={self.folder}"

    def run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run one of its programs as its user."""
        command = [str(self.programs / program), *arguments]
        return subprocess.run(command, **_as(self.user), capture_output=True, text=True, timeout=60, check=check)

    def database(self, name: str) -> str:
        """Make an empty database; return its address."""
        self.run("createdb", "-h", str(self.folder), "-U", "tester", name)
        return self.url(name)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off -c max_connections=50"
        log = str(self.folder / "log")
        done = self.run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-o", options, "-w", "start", check=False)
        if done.returncode:
            raise NoPostgres(f"PostgreSQL does not start: {(done.stderr or done.stdout).strip()[:300]}")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it; `immediate` is as if it had crashed."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop", check=False)


@contextmanager
def server() -> Iterator[Server]:
    """Make a server and start it; NoPostgres says why there is none."""
    place = programs()
    user = _user()
    with tempfile.TemporaryDirectory(prefix="batchproof-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if user:
            os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        found = Server(folder, place, user)
        asked = ("-D", str(folder / "data"), "-U", "tester", "-A", "trust", "-E", "UTF8", "-N")
        made = found.run("initdb", *asked, check=False)
        if made.returncode:
            raise NoPostgres(f"initdb fails: {made.stderr.strip()[:300]}")
        found.start()
        try:
            yield found
        finally:
            found.stop()


def _user() -> str:
    """Return the user that it runs as; empty: ourselves."""
    if os.geteuid():
        return ""
    for name in USERS:
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise NoPostgres("PostgreSQL does not run as root, and there is no user postgres or nobody")


def _as(user: str) -> dict[str, object]:
    """Return what subprocess needs to run a program as this user, in a folder that it may enter."""
    if not user:
        return {"cwd": "/"}
    found = pwd.getpwnam(user)
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": [], "cwd": "/"}
