"""`batchproof env` as people use it: what it prints, how it ends, and what it leaves when it is interrupted."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from batchproof.host import keeper
from batchproof.host.clock import HOST_CLOCK
from batchproof.suites.selftest.command_line import PATIENT, invoke, one_message
from batchproof.suites.selftest.commands.env.wheels import wheel
from batchproof.targets.environments import environments, made
from batchproof.targets.names import BUILT_IN


def soon(condition, seconds=60.0):
    return HOST_CLOCK.wait(lambda: bool(condition()), HOST_CLOCK.now_ns() + int(seconds * 1e9))


def test_each_environment_is_one_of_a_target():
    """Its packages are pinned; everything else is, too, with the Python that it was tried with."""
    known = environments()

    assert sorted(known) == list(known)
    assert set(known) <= set(BUILT_IN)
    for one in known.values():
        assert set(one.alone) <= set(one.packages)
        pinned = Requirement(one.packages[0])
        assert str(pinned.specifier) == f"=={one.version}"
        locked = {Requirement(text).name.lower(): Requirement(text).specifier for text in one.locked}
        for text in one.packages:
            asked = Requirement(text)
            version = str(locked[asked.name.lower()]).removeprefix("==")
            assert asked.specifier.contains(version), text


def test_make_list_and_remove(index, tmp_path, monkeypatch, capfd):
    """It says what it downloads, how to use it, and that it is there; then it is removed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for text in environments()["mosec"].locked:
        asked = Requirement(text)
        wheel(index, asked.name, str(asked.specifier).removeprefix("=="))
    place = tmp_path / "batchproof" / "env" / "mosec-0.9.8"

    status, out, _ = invoke(capfd, "env", "make", "mosec")
    assert status == 0
    assert "mosec-0.9.8: mosec==0.9.8, numpy: about " in out
    assert f"MB when installed in {place}" in out
    assert f"then: batchproof check --target 'mosec?python={place}/bin/python'" in out
    assert "batchproof check --target mosec\n" in out
    assert made("mosec") == f"{place}/bin/python"

    assert invoke(capfd, "env", "make", "mosec")[1].startswith(f"mosec-0.9.8: already there, in {place}\n")
    assert str(place) in invoke(capfd, "env", "list")[1]

    status, out, _ = invoke(capfd, "env", "remove", "mosec")
    assert (status, out.startswith(f"{place}: removed, "), made("mosec")) == (0, True, "")
    assert list(place.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["make", "vlm"], "there is no environment 'vlm': did you mean 'vllm'? Choose from bentoml,"),
        (["make", "zzz"], "there is no environment 'zzz': choose from bentoml,"),
        (["remove", "vlm"], "there is no environment 'vlm': did you mean 'vllm'?"),
        (["remove", "vllm"], "there is no environment of vllm in "),
        (["make", "mosec", "--python", "/no/such/python"], "--python /no/such/python cannot be run"),
    ],
    ids=" ".join,
)
def test_mistakes_have_one_message(tmp_path, capfd, arguments, said):
    """They are misuse, and make nothing."""
    status, out, error = invoke(capfd, "env", *arguments, "--folder", tmp_path)

    assert (status, out) == (2, "")
    assert one_message(error).startswith(f"batchproof: {said}")


def test_what_is_being_made_is_not_removed(tmp_path, capfd):
    """It belongs to another process."""
    half = tmp_path / ".mosec-0.9.8.half"
    half.mkdir()
    lock = os.open(half, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)

    status, _, error = invoke(capfd, "env", "remove", "mosec", "--folder", tmp_path)
    os.close(lock)

    assert (status, half.exists()) == (4, True)
    assert one_message(error) == f"batchproof: another process is making {half}: wait for it, or end it"
    assert invoke(capfd, "env", "remove", "mosec", "--folder", tmp_path)[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made_is_unavailable(tmp_path, capfd):
    """A folder that cannot be one."""
    (tmp_path / "file").write_text("")

    status, _, error = invoke(capfd, "env", "make", "mosec", "--folder", tmp_path / "file")

    assert (status, one_message(error)) == (
        4, f"batchproof: {tmp_path / 'file'} cannot be written: Not a directory; name another one with --folder"
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_half_made_is_left(tmp_path, number):
    """Not after Ctrl-C or SIGTERM, and no process even after SIGKILL. The index here never answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/simple"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environment |= {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": url}
    command = [sys.executable, "-m", "batchproof", "env", "make", "mosec", "--folder", tmp_path]
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        listener.settimeout(PATIENT)
        connection, _ = listener.accept()  # pip asks for the package
        theirs = keeper.descendants(running.pid)
        running.send_signal(number)
        out, error = running.communicate(timeout=PATIENT)
    finally:
        running.kill()
    connection.close()
    listener.close()

    assert out.startswith("mosec-0.9.8: ")
    assert theirs
    assert soon(lambda: not [pid for pid in theirs if Path(f"/proc/{pid}").exists() and not _zombie(pid)])
    if number != signal.SIGKILL:
        assert running.returncode == 130
        assert error.splitlines()[-1] == "batchproof: interrupted: nothing of the environment of mosec is left"
        assert list(tmp_path.iterdir()) == []


def _zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
