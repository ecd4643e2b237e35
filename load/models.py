"""Torch models of known shape with seeded random weights; nothing is downloaded. Importing this module imports torch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from itertools import pairwise

import torch
from torch import Tensor, nn

from batchproof.load.resnet import resnet50

SEED = 1729
FEATURES, PIXELS, TOKENS, WORDS, WIDTH, CLASSES = 256, 64, 32, 1000, 128, 16


class TextClassifier(nn.Module):
    """An embedding, two transformer layers (post-norm, 4 heads; Vaswani et al. 2017, arXiv 1706.03762), the mean, a line."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.Sequential(*(nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True) for _ in range(2)))
        self.classify = nn.Linear(WIDTH, CLASSES)

    def forward(self, words: Tensor) -> Tensor:
        """int64 [rows, 32] -> float32 [rows, 16]."""
        result: Tensor = self.classify(self.layers(self.embedding(words)).mean(dim=1))
        return result


def mlp() -> nn.Module:
    """float32 [rows, 256] -> float32 [rows, 16]."""
    sizes = (FEATURES, 512, 512)
    layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(512, CLASSES))


def text() -> nn.Module:
    """int64 [rows, 32] -> float32 [rows, 16]."""
    return TextClassifier()


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (mlp, (FEATURES,)),
    "text": (text, (TOKENS,)),
    "image": (resnet50, (3, PIXELS, PIXELS)),
}


@cache
def build(name: str, device: str = "cpu") -> tuple[nn.Module, Callable[[int], Tensor]]:
    """Return the model, in evaluation mode on its device, and a function from a number of rows to an input on the host."""
    make, shape = MODELS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        module = deepcopy(make()).eval().to(device)  # of what `make` may keep for others

    @cache  # a client that makes a tensor for each request would measure itself
    def inputs(rows: int) -> Tensor:
        generator = torch.Generator().manual_seed(SEED)
        if name == "text":
            return torch.randint(WORDS, (rows, *shape), generator=generator)
        return torch.rand(rows, *shape, generator=generator)

    return module, inputs


class Bound(nn.Module):
    """A model that runs with a given number of OpenMP threads, whichever thread calls it.

    `torch.set_num_threads` counts only for the thread that calls it, and a batcher calls the model on a thread of its own:
    set in the main thread it would leave a batch with all processors' threads, which fight where the machine is shared.
    """

    def __init__(self, module: nn.Module, threads: int) -> None:
        super().__init__()
        self.module = module
        self.threads = threads
        self.seen: set[int] = set()  # how many threads there were, as read on the worker: the bench asserts it
        self._done = threading.local()

    def forward(self, *inputs: Tensor) -> Tensor:
        """As the model."""
        if not getattr(self._done, "bound", False):
            torch.set_num_threads(self.threads)
            self._done.bound = True
        self.seen.add(torch.get_num_threads())
        result: Tensor = self.module(*inputs)
        return result


def bound_to(module: nn.Module, threads: int) -> Bound:
    """Return the model bound to this number of threads."""
    return Bound(module, threads).eval()
