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
            moved = to(batch, device)
            return module(*moved) if isinstance(moved, tuple) else module(moved)

    return call


def to(batch: Tree, device: object) -> Tree:
    """Move a whole batch to the module's device, which takes one copy instead of one for each request."""
    if isinstance(batch, dict):
        return {key: to(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(to(value, device) for value in batch)
    return batch.to(device, non_blocking=True) if hasattr(batch, "to") else batch
