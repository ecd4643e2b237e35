"""What a model's backend adds to its configuration, from the model's file or code, before the server judges the tensors.

The server looks at types, shapes and the batch size only after that (unless it runs with --disable-auto-complete-config).
Each function says True: the backend adds it. False: it does not. None: it may, or it is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

ENSEMBLE = "ensemble"
# The only backends whose platform Triton compares; every other backend takes any platform.
PLATFORMS = {
    "onnxruntime": ("onnxruntime_onnx",),
    "pytorch": ("pytorch_libtorch", "torch_aoti"),
    "tensorflow": ("tensorflow_graphdef", "tensorflow_savedmodel"),
    "tensorrt": ("tensorrt_plan",),
}
# The backend that a model has whose configuration names this file, and neither a platform nor a backend.
FILES = {
    "model.graphdef": "tensorflow",
    "model.onnx": "onnxruntime",
    "model.plan": "tensorrt",
    "model.pt": "pytorch",
    "model.py": "python",
    "model.savedmodel": "tensorflow",
    "model.xml": "openvino",
}
IMPLY = {platform: backend for backend, platforms in PLATFORMS.items() for platform in platforms}
COMPLETES_NOTHING = ("identity", "pytorch", "repeat", "square")
KEEPS_WHAT_IS_LISTED = ("onnxruntime", "openvino")  # they add tensors only where none is listed, and change none that is
READS_ITS_FILE = ("dali", "tensorflow", "tensorrt")


def backend_of(config: ModelConfig) -> str:
    """Return the backend that runs the model; an empty string if the server guesses it, and for an ensemble."""
    if config.backend or config.platform or config.HasField("ensemble_scheduling"):
        return config.backend or IMPLY.get(config.platform, "")
    return FILES.get(config.default_model_filename, "")


def completer(config: ModelConfig) -> str:
    """Return who may complete the configuration, in words."""
    return "the model's own code" if backend_of(config) == "python" else "its backend"


def _nothing(config: ModelConfig) -> bool:
    ensemble = config.platform == ENSEMBLE or config.HasField("ensemble_scheduling")
    graph = config.platform == "tensorflow_graphdef" or config.default_model_filename.endswith(".graphdef")
    return ensemble or graph or backend_of(config) in COMPLETES_NOTHING


def fills_tensors(config: ModelConfig) -> bool | None:
    """Say whether the backend writes the type and shape of a tensor that is listed without."""
    backend = backend_of(config)
    if _nothing(config) or backend in KEEPS_WHAT_IS_LISTED:
        return False
    return True if backend in READS_ITS_FILE else None


def adds_tensors(config: ModelConfig, word: str) -> bool | None:
    """Say whether the backend adds an input or output (word) that is not listed."""
    backend, listed = backend_of(config), len(getattr(config, word))
    if word == "input" and backend == "onnxruntime":
        listed += len(config.batch_input)
    if _nothing(config) or (listed and backend in (*KEEPS_WHAT_IS_LISTED, "tensorrt")):
        return False
    return True if backend in (*READS_ITS_FILE, *KEEPS_WHAT_IS_LISTED) else None


def sets_batch_size(config: ModelConfig) -> bool | None:
    """Say whether the backend writes a max_batch_size that is 0 or missing. That depends on the model, so never True."""
    whole = backend_of(config) == "onnxruntime" and config.output and (config.input or config.batch_input)
    return False if config.max_batch_size or whole or _nothing(config) else None


def adds_scheduler(config: ModelConfig) -> bool | None:
    """Say whether the backend adds `dynamic_batching { }` to a configuration for batches that chooses no scheduler."""
    backend = backend_of(config)
    if config.WhichOneof("scheduling_choice") or config.max_batch_size == 1 or _nothing(config):
        return False
    if config.max_batch_size == 0:
        return sets_batch_size(config)
    if backend == "onnxruntime":  # it completes a configuration only as a whole
        return not config.output or not (config.input or config.batch_input)
    return True if backend in READS_ITS_FILE else None
