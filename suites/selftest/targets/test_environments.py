"""A target whose stack this interpreter does not have is found in the environment that was made for it."""

import json
import re
from pathlib import Path

import pytest

from batchproof.targets import environments, resolve
from batchproof.targets.kit.interpreter import Missing
from batchproof.targets.protocol import TargetError


@pytest.fixture
def absent(monkeypatch, tmp_path):
    """No stack is in this interpreter, and no environment has been made."""
    from batchproof.targets.kit import interpreter

    look = interpreter.LOOK.replace("return metadata.version(name)", "return ''")
    monkeypatch.setattr(interpreter, "LOOK", look)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "batchproof" / "env"


def pretend(folder, name, **versions):
    """An environment whose interpreter only says what it has."""
    place = environments.environments()[name].at(folder)
    python = environments.python_in(place)
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho '{json.dumps(versions)}'\n")
    python.chmod(0o755)
    (place / environments.MARKER).write_text("{}")
    return python


def test_an_environment_that_was_made_is_found(absent):
    """The report says how to reach it again."""
    python = pretend(absent, "mosec", mosec="0.9.8")

    target = resolve("mosec")

    assert (target.info.version, target.info.reached) == ("0.9.8", f"mosec?python={python}")


def test_one_that_is_not_complete_is_not_found(absent):
    """Who has none reads how to make it."""
    python = pretend(absent, "mosec", mosec="0.9.8")
    Path(python.parents[1] / environments.MARKER).unlink()

    with pytest.raises(TargetError, match=r"does not have mosec: .*; or, in .* its own: batchproof env make mosec$"):
        resolve("mosec")


def test_an_interpreter_that_is_named_is_the_one(absent):
    """It is not replaced by an environment."""
    pretend(absent, "mosec", mosec="0.9.8")
    other = absent / "other"
    other.write_text("#!/bin/sh\necho '{}'\n")
    other.chmod(0o755)

    with pytest.raises(TargetError, match=re.escape(f"{other} does not have mosec")) as caught:
        resolve(f"mosec?python={other}")

    assert not isinstance(caught.value, Missing)


@pytest.mark.parametrize(("home", "folder"), [("", "{home}/.cache"), ("relative", "{home}/.cache"), ("/var/x", "/var/x")])
def test_the_folder_is_the_users_cache(monkeypatch, home, folder):
    """As the XDG base directory specification has it: a relative path is ignored."""
    monkeypatch.setenv("XDG_CACHE_HOME", home)

    assert environments.usual_folder() == Path(folder.format(home=Path.home()), "batchproof", "env")


def test_what_is_removed_again_is_held_to_no_version():
    """It would only stand in the way of versions that go together."""
    for name, one in environments.environments().items():
        assert not {line.partition("==")[0].lower() for line in one.locked} & set(one.remove), name
