"""`batchproof env make`, `list` and `remove`: what they print, and how they end."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote

from rich.console import Console

from batchproof.commands.env.make import MB, alone, check_python, make
from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.interruption import Interruption
from batchproof.host.live_line import LiveLine
from batchproof.targets.environments import Environment, complete, environments, python_in, usual_folder
from batchproof.targets.protocol import Misuse, TargetError


def named(name: str) -> Environment:
    """Return the environment with this name; Misuse suggests the nearest one."""
    known = environments()
    if name in known:
        return known[name]
    near = get_close_matches(name, known, 1)
    meant = f"did you mean '{near[0]}'? Choose from" if near else "choose from"
    raise Misuse(f"there is no environment '{name}': {meant} {', '.join(known)}")


def print_make(name: str, folder: Path | None, python: str) -> ExitStatus:
    """Make an environment, and print how to use it. It is UNAVAILABLE if it cannot be made."""
    Interruption().listen()
    line = LiveLine(Console(stderr=True, highlight=False, soft_wrap=True))
    try:
        wanted, where = named(name), _folder(folder)
        version = check_python(wanted, python or sys.executable)
        if not complete(wanted.at(where)):
            print(_plan(wanted, where), flush=True)
        made = make(wanted, where, python or sys.executable, version, line.say)
    except Misuse as error:
        line.stop()
        return refuse(error)
    except TargetError as error:
        line.stop()
        return refuse(error, ExitStatus.UNAVAILABLE)
    except OSError as error:
        line.stop()
        return refuse(f"cannot make the environment of {name}: {error}", ExitStatus.UNAVAILABLE)
    except KeyboardInterrupt:
        line.stop()
        return refuse(f"interrupted: nothing of the environment of {name} is left", ExitStatus.INTERRUPTED)
    finally:
        line.stop()
    if made.seconds:
        sizes = f"{made.downloaded / MB:.0f} MB of packages, {_size(made.place) / MB:.0f} MB installed"
        print(f"{wanted.folder_name}: made in {made.seconds:.0f} s, {sizes}, in {made.place}")
    else:
        print(f"{wanted.folder_name}: already there, in {made.place}")
    print(f"then: batchproof check --target '{name}?python={quote(str(python_in(made.place)))}'")
    if where == usual_folder():
        print(f"or, since it is found there: batchproof check --target {name}")
    return ExitStatus.FINE


def print_list(folder: Path | None) -> ExitStatus:
    """Print every environment that can be made, and everything else in the folder."""
    where = _folder(folder)
    print(f"{'name':19}{'version':16}{'to download':>12}{'installed':>12}  made")
    for one in environments().values():
        place = one.at(where)
        is_made = complete(place)
        installed = _size(place) // MB if is_made else one.installed_mb
        print(f"{one.name:19}{one.version:16}{one.download_mb:>9} MB{installed:>9} MB  {place if is_made else '-'}")
    ours = {one.folder_name for one in environments().values()}
    for path in sorted(where.iterdir()) if where.is_dir() else ():
        if path.name not in ours:
            what = "incomplete: the next `env make` of it removes it" if path.name.endswith(".half") else "another version"
            print(f"also in {where}: {path.name} ({_size(path) / MB:.0f} MB, {what})")
    return ExitStatus.FINE


def print_remove(name: str, folder: Path | None) -> ExitStatus:
    """Remove all environments of this name, older versions too."""
    try:
        named(name)
        where = _folder(folder)
        found = sorted(where.glob(f"{name}-[0-9]*")) + sorted(where.glob(f".{name}-[0-9]*"))
        if not found:
            raise Misuse(f"there is no environment of {name} in {where}")
    except Misuse as error:
        return refuse(error)
    for path in found:
        size = _size(path)
        try:
            with alone(path):
                gone = path if path.name.startswith(".") else path.rename(path.with_name(f".{path.name}.removed"))
                shutil.rmtree(gone)
        except BlockingIOError:
            return refuse(f"another process is making {path}: wait for it, or end it", ExitStatus.UNAVAILABLE)
        except OSError as error:
            return refuse(f"{path} cannot be removed: {error}", ExitStatus.UNAVAILABLE)
        print(f"{path}: removed, {size / MB:.0f} MB")
    return ExitStatus.FINE


def _folder(given: Path | None) -> Path:
    return usual_folder() if given is None else given.expanduser().absolute()


def _plan(wanted: Environment, folder: Path) -> str:
    """Return what will be downloaded and installed."""
    removed = f", without {', '.join(wanted.remove)}" if wanted.remove else ""
    sizes = f"about {wanted.download_mb} MB to download, {wanted.installed_mb} MB when installed"
    return f"{wanted.folder_name}: {', '.join(wanted.packages)}{removed}: {sizes} in {wanted.at(folder)}"


def _size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    found = 0
    for at, _, names in os.walk(folder):
        for name in names:
            path = Path(at, name)
            with contextlib.suppress(FileNotFoundError):  # another process may have removed it
                found += path.lstat().st_size
    return found
