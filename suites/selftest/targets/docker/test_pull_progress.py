"""Images of target `triton-docker` without an engine: when they are pulled, how that is shown, and when it fails."""

from __future__ import annotations

from typing import Any

import pytest

from batchproof.host.announce import heard_by
from batchproof.suites.selftest.engines import FakeEngine, Refusal
from batchproof.targets.docker.engine import Engine, need_image
from batchproof.targets.docker.pull_progress import Layers
from batchproof.targets.protocol import TargetError


def test_a_pull_is_shown_in_bytes() -> None:
    """It is shown while the bytes come, and the image is there afterwards."""
    engine, heard = FakeEngine(), []
    engine.pulled = [
        {"status": "Pulling fs layer", "id": "a"},
        {"status": "Pulling fs layer", "id": "b"},
        {"status": "Downloading", "id": "a", "progressDetail": {"current": 5, "total": 10}},
        {"status": "Downloading", "id": "b", "progressDetail": {"current": 1, "total": 30}},
        {"status": "Download complete", "id": "a"},
        {"status": "Download complete", "id": "b"},
        {"status": "Extracting", "id": "a", "progressDetail": {"current": 1, "total": 2}},
    ]

    with heard_by(lambda *told: heard.append(told)):
        need_image(Engine(engine), "far/away:1")

    assert heard[2:] == [
        ("pulling far/away:1", 5, 10),
        ("pulling far/away:1", 6, 40),
        ("pulling far/away:1", 11, 40),
        ("unpacking far/away:1", 40, 40),
        ("unpacking far/away:1", 40, 40),
    ]


@pytest.mark.parametrize(
    ("refusal", "events", "words"),
    [
        (Refusal("manifest for far/away:1 not found", 404), [], "manifest for far/away:1 not found"),
        (Refusal("pull access denied", 404), [], "pull access denied"),
        (None, [{"error": "net/http: TLS handshake timeout"}], "TLS handshake timeout"),
    ],
    ids=["unknown", "denied", "broken off"],
)
def test_a_refused_pull_says_why(refusal: Refusal | None, events: list[dict[str, Any]], words: str) -> None:
    """A pull that is refused, at once or later, says why and what else there is."""
    engine = FakeEngine(**({"pull": refusal} if refusal else {}))
    engine.pulled = events

    with pytest.raises(TargetError, match=f"cannot pull the image far/away:1: .*{words}.*batchproof image build"):
        need_image(Engine(engine), "far/away:1")


def test_built_images_are_not_pulled() -> None:
    """An image that only `image build` makes is not looked for in a registry."""
    with pytest.raises(TargetError, match="batchproof image build --tag batchproof-triton:9"):
        need_image(Engine(FakeEngine(pull=AssertionError())), "batchproof-triton:9")


def test_layers_that_the_engine_has_are_not_counted() -> None:
    """Layers that the engine already has are not bytes to wait for."""
    layers = Layers("x")

    layers.feed({"status": "Already exists", "id": "a"})

    assert (layers.done, layers.total, layers.what) == (0, 0, "pulling x")
