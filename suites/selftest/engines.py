"""A stand-in for the Docker SDK's client, as small as the suite's use of it. There is no engine behind it."""

from __future__ import annotations

import io
import tarfile
from types import SimpleNamespace
from typing import Any


class Refusal(Exception):
    """What the SDK raises when the engine refuses: `docker.errors.APIError`, as far as our code reads it."""

    def __init__(self, explanation: str, status_code: int = 500) -> None:
        super().__init__(f"{status_code} Server Error: {explanation}")
        self.explanation, self.status_code = explanation, status_code


RUNNING = {"Status": "running", "Running": True, "Paused": False, "OOMKilled": False, "ExitCode": 0, "Pid": 0}
PORTS = {f"{inside}/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(outside)}]
         for inside, outside in ((8000, 32768), (8001, 32769), (8002, 32770))}


class Thing:
    """A container, a volume or a network."""

    def __init__(self, engine: FakeEngine, name: str, labels: dict[str, str], **about: Any) -> None:
        self.engine, self.name, self.id, self.labels, self.about = engine, name, f"id-{name}", labels, about
        self.attrs: dict[str, Any] = {"Labels": labels, "State": {"Status": "created"}, "NetworkSettings": {"Ports": {}}}
        self.files: dict[str, bytes] = {}

    def start(self) -> None:
        self.engine.maybe("start")
        self.attrs |= {"State": self.engine.state, "NetworkSettings": {"Ports": self.engine.ports}}

    def reload(self) -> None:
        self.engine.maybe("reload")
        if self not in self.engine.things:
            raise Refusal("No such container", 404)

    def logs(self) -> bytes:
        return self.engine.log

    def put_archive(self, path: str, data: bytes) -> bool:
        self.engine.maybe("put_archive")
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            self.files |= {f"{path}{one.name}": tar.extractfile(one).read() for one in tar if one.isreg()}  # type: ignore[union-attr]
        return True

    def remove(self, **how: bool) -> None:
        self.engine.removed.append((self.name, how))
        self.engine.things.remove(self)


class FakeEngine:
    """`fails` names the call that raises, and the exception."""

    def __init__(self, **fails: BaseException) -> None:
        self.fails, self.things, self.removed = fails, [], []
        self.state, self.ports, self.log = dict(RUNNING), dict(PORTS), b"I1 started\n"
        self.pulled: list[dict[str, Any]] = [{"status": "Pulling fs layer", "id": "a"}]
        self.local = {"here:1": SimpleNamespace(attrs={"Config": {"Entrypoint": ["/opt/nvidia/nvidia_entrypoint.sh"]}})}
        self.containers = SimpleNamespace(create=self.create, list=lambda **_: self.of("container"))
        self.volumes = SimpleNamespace(list=lambda **_: self.of("volume"))
        self.networks = SimpleNamespace(list=lambda **_: self.of("network"))
        self.images = SimpleNamespace(get=self.get)
        self.api = SimpleNamespace(pull=self.pull, remove_container=self.remove_container)

    def close(self) -> None:
        self.maybe("close")

    def maybe(self, call: str) -> None:
        if call in self.fails:
            raise self.fails[call]

    def of(self, kind: str) -> list[Thing]:
        return [one for one in self.things if one.about.get("kind") == kind]

    def left(self, kind: str, name: str, labels: dict[str, str]) -> Thing:
        self.things.append(Thing(self, name, labels, kind=kind))
        return self.things[-1]

    def create(self, image: str, command: list[str], **how: Any) -> Thing:
        one = self.left("container", how["name"], how["labels"])
        one.about |= {"image": image, "command": command, **how}
        self.maybe("create")
        return one

    def get(self, image: str) -> Any:
        if image not in self.local:
            raise Refusal(f"No such image: {image}", 404)
        return self.local[image]

    def pull(self, repository: str, *, tag: str | None, stream: bool, decode: bool) -> Any:
        assert stream
        assert decode
        self.maybe("pull")
        self.local[f"{repository}:{tag}"] = self.local["here:1"]
        return iter(self.pulled)

    def remove_container(self, name: str, **how: bool) -> None:
        self.maybe("remove")
        for one in [one for one in self.things if one.name == name]:
            one.remove(**how)
            return
        raise Refusal("No such container", 404)
