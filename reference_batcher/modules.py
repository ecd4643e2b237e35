"""Makes a model of a torch module: in evaluation mode, in inference mode, and on the module's own device."""

from __future__ import annotations

from .execution import Model, Tree


def prepare(model: Model) -> Model:
    """Return what to call for a batch. A torch module runs in evaluation and inference mode; anything else runs as it is."""
    if not hasattr(model, "eval") or not hasattr(model, "parameters"):
        return model
    import torch

    module = model.eval()
    device = next((parameter.device for parameter in module.parameters()), torch.device("cpu"))

    def call(batch: Tree) -> Tree:
        with torch.inference_mode():
            moved = to(batch, device, non_blocking=True)
            result = module(*moved) if isinstance(moved, tuple) else module(moved)
            return result if device.type == "cpu" else to(result, home(batch))

    return call


def to(batch: Tree, device: object, *, non_blocking: bool = False) -> Tree:
    """Move a whole batch to a device, which takes one copy instead of one for each request."""
    if isinstance(batch, dict):
        return {key: to(value, device, non_blocking=non_blocking) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(to(value, device, non_blocking=non_blocking) for value in batch)
    return batch.to(device, non_blocking=non_blocking) if hasattr(batch, "to") else batch


def home(batch: Tree) -> object:
    """Return where the results go: to the device that the first tensor of the batch came from, or to the CPU.

    A device computes after its call has returned. The copy waits for it, so that the instance is busy for as long as the
    device is, and what waits meanwhile waits in the batcher's queue, where it can share a batch.
    """
    values = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, tuple) else (batch,)
    return next((value.device for value in values if hasattr(value, "device")), "cpu")
