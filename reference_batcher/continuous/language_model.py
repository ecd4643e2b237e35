"""A small PyTorch language model with a paged KV cache: real attention over the blocks of a row's table."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import torch
from torch import Tensor, nn

from .config import EngineConfig
from .requests import Row

WIDTH, HEADS, LAYERS = 32, 2, 2


class Layer(nn.Module):
    """The parts of a layer around its attention."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project, self.join = _linear(WIDTH, 3 * WIDTH), _linear(WIDTH, WIDTH)
        self.think = nn.Sequential(_linear(WIDTH, 4 * WIDTH), nn.GELU(), _linear(4 * WIDTH, WIDTH))


class PagedLanguageModel(nn.Module):
    """A decoder-only transformer with greedy sampling.

    vocabulary: the number of tokens. seed: of the weights, which are random. Everything is computed in float64, so that a
    text does not depend on what else is in the same iteration.
    """

    cache: Tensor

    def __init__(self, config: EngineConfig, vocabulary: int = 256, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.size = config.block_size
        self.layers = [Layer() for _ in range(LAYERS)]
        self.registered = nn.ModuleList(self.layers)
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.places = nn.Embedding(config.max_model_len, WIDTH)
        self.head = _linear(WIDTH, vocabulary)
        self.double()
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.5, generator=generator)
        places = config.num_blocks * config.block_size
        self.register_buffer("cache", torch.zeros(LAYERS, 2, places, WIDTH, dtype=torch.float64), persistent=False)

    @torch.inference_mode()
    def forward(self, rows: Sequence[Row]) -> list[int | None]:
        """Compute an iteration: write the new tokens' keys and values, then attend through each row's block table."""
        if not rows:
            return []
        places = [torch.arange(row.start, row.start + len(row.tokens)) for row in rows]
        tables = [self._slots(row, torch.arange(row.start + len(row.tokens))) for row in rows]
        slots = torch.cat([table[row.start :] for table, row in zip(tables, rows, strict=True)])
        state = self.tokens(torch.tensor([token for row in rows for token in row.tokens])) + self.places(torch.cat(places))
        for number, layer in enumerate(self.layers):
            query, key, value = layer.project(layer.before(state)).chunk(3, dim=-1)
            self.cache[number, 0, slots], self.cache[number, 1, slots] = key, value
            queries = query.split([len(row.tokens) for row in rows])
            seen = [self._attended(number, *one) for one in zip(queries, tables, places, strict=True)]
            state = state + layer.join(torch.cat(seen))
            state = state + layer.think(layer.after(state))
        ends = torch.tensor([len(row.tokens) for row in rows]).cumsum(0) - 1
        said = self.head(state[ends]).argmax(dim=-1).tolist()
        return [token if row.last else None for row, token in zip(rows, said, strict=True)]

    def _slots(self, row: Row, places: Tensor) -> Tensor:
        """Return where places of a row are in the cache, int64 [places]."""
        return torch.tensor(row.blocks)[places // self.size] * self.size + places % self.size

    def _attended(self, layer: int, query: Tensor, table: Tensor, places: Tensor) -> Tensor:
        """Attend from the new tokens, float64 [new, WIDTH], to all of the context that the cache holds for this row."""
        keys, values = (_heads(self.cache[layer, kind, table]) for kind in (0, 1))
        weights = _heads(query) @ keys.transpose(1, 2) / sqrt(WIDTH // HEADS)
        later = torch.arange(len(table)) > places[:, None]
        return (weights.masked_fill(later, -torch.inf).softmax(-1) @ values).transpose(0, 1).flatten(1)


def _linear(inputs: int, outputs: int) -> nn.Module:
    return nn.Linear(inputs, outputs, bias=False)


def _heads(state: Tensor) -> Tensor:
    """Return [tokens, WIDTH] as [HEADS, tokens, WIDTH // HEADS]."""
    return state.view(len(state), HEADS, WIDTH // HEADS).transpose(0, 1)
