"""`batchproof witness FOLDER`: the witness as a model repository, with every configuration that the suite deploys."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.run import Unjudged, results_of
from batchproof.targets.virtual import VirtualTarget


class Collecting(VirtualTarget):
    """The simulated target, which notes each configuration that it deploys. One run without output finds them all."""

    configs: ClassVar[dict[Any, None]] = {}

    def deploy(self, config: Any) -> Any:
        """Note the configuration, and deploy it."""
        self.configs[config] = None
        return super().deploy(config)


def write_repository(folder: Path) -> ExitStatus:
    """Write the repository into a new or empty folder, and print how to start a server with it."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            return refuse(f"{folder} is not an empty folder: name a new one")
        names = write(folder)
    except Unjudged as why:
        return refuse(why, ExitStatus.UNAVAILABLE)
    except OSError as error:
        return refuse(f"cannot write {folder}: {error.strerror}", ExitStatus.UNAVAILABLE)
    print(f"{len(names)} models in {folder}: start tritonserver with --model-repository={folder}")
    print("then: batchproof check --target grpc://HOST:PORT")
    return ExitStatus.FINE


def write(folder: Path) -> list[str]:
    """Write the repository; return the models' names. OSError if the folder cannot be written; Unjudged as `results_of`."""
    from batchproof.targets.triton import target as triton
    from batchproof.targets.triton.repository import CONTROL

    results_of(f"{__name__}:Collecting")
    models = {triton.served_name(config): config for config in Collecting.configs if not config.response_cache}
    folder.mkdir(parents=True, exist_ok=True)
    for name, config in models.items():
        text = triton.witness_model(config, name).to_pbtxt()
        _write_model(folder / name, text, triton.witness_sources("triton_model.py"))
    control = triton.pbtxt(triton.control_model())
    _write_model(folder / CONTROL, control, triton.witness_sources("triton_control.py"))
    return [*models, CONTROL]


def _write_model(folder: Path, config: str, sources: dict[str, bytes]) -> None:
    (folder / "1").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(config, encoding="utf-8")
    for name, content in sources.items():
        (folder / "1" / name).write_bytes(content)
