"""Target `ray`: the witness in Ray Serve on a cluster of one node, called over HTTP. docs/stacks/ray.md has more."""

from concurrent.futures import Future
from itertools import count
from pathlib import Path

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Request, Response, TargetInfo
from batchproof.targets.kit import Folder, Guarded, HttpClient, Interpreter, cancel, free_ports, listens

SERVER = Path(__file__).with_name("ray_server.py")
HOW = "python3 -m venv ray-env && ray-env/bin/pip install 'ray[serve]', then --target 'ray?python=ray-env/bin/python'"
CLAIMS = {
    "delay": True,
    "delay_anchor": "oldest-enqueue",
    "delay_of": "batch",
    "batches_without_delay": False,
    "late_binding": False,
    "rows": "requests",
    "queue": "each-instance",
    "instances": True,
    "close": True,
    "cancel": True,
    "counts_results": True,
    "defaults": True,
    "default_batch": 10,
    "default_delay_ms": 10,
}
DEPLOY_S = 60.0


class RayDeployment:
    """One application."""

    cancel = staticmethod(cancel)

    def __init__(self, target: "RayTarget", name: str, config: BatcherConfig | None = None) -> None:
        folder = Folder()
        self.log, self.release, self.queued, self._remove = folder.log, folder.release, folder.queued, folder.remove
        self._target, self._name = target, name
        asked: dict[str, object] = {"deploy": name, "folder": folder.path}
        if config:
            size = {"size": config.max_batch_size, "delay_s": config.max_queue_delay_ns / 1e9}
            asked |= {"options": {"num_replicas": config.instances, "max_ongoing_requests": 100_000}, **size}
        target.control.post("/", asked, DEPLOY_S)

    def submit(self, request: Request) -> Future[Response]:
        """POST it."""
        return self._target.http.infer(f"/{self._name}", request)

    def close(self) -> None:
        """Delete the application."""
        self._target.control.post("/", {"delete": self._name}, DEPLOY_S)

    def finish(self) -> None:
        """Delete it, and its files."""
        self.close()
        self._remove()


class RayTarget:
    """Ray Serve, with an application for each configuration. python: the interpreter that has it."""

    deploys_at_once = 2

    def __init__(self, python: str = "") -> None:
        interpreter, self._folder, self._names = Interpreter(python, ["ray"], HOW), Folder(), count(1)
        self.info = TargetInfo("ray", interpreter.versions["ray"], "ray", claims=CLAIMS)
        http, control = free_ports(2)
        self.http, self.control = HttpClient(f"http://127.0.0.1:{http}"), HttpClient(f"http://127.0.0.1:{control}")
        quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
        self._server = Guarded(
            interpreter.command(SERVER, http, control, self._folder.path), name="Ray", grace_s=0,
            env=interpreter.environment(self._folder.path, quiet), ready=lambda: listens(control),
        )  # fmt: skip
        self.process_group, self.alive = self._server.process_group, self._server.alive

    def deploy(self, config: BatcherConfig) -> RayDeployment:
        """Run an application."""
        return RayDeployment(self, f"witness-{next(self._names)}", config)

    def deploy_defaults(self) -> RayDeployment:
        """Run an application with nothing set."""
        return RayDeployment(self, f"witness-{next(self._names)}")

    def close(self) -> None:
        """Kill the cluster, and remove its files."""
        self._server.finish()
        self._folder.remove()
