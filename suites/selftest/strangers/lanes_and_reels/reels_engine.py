"""Continuous batching in two phases: an iteration computes prompts or next tokens, in turn while there are both.

More sequences are kept in the cache than an iteration has rows: they take their turns. A sequence that gets no block is
swapped to the host, with what its blocks hold. Full blocks stay in a radix tree for prompts that begin alike, and leave it
from its leaves, the longest unused first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class Row(NamedTuple):
    """New tokens, the place of the first of them, and the block table of the context."""

    tokens: list[int]
    start: int
    blocks: list[int]


class Said(NamedTuple):
    """A new token of a sample of a request, and how the text has ended, or ""."""

    name: str
    token: int
    end: str
    sample: int


class Memory(Protocol):
    """The KV cache: what a block holds can be read, and written into another."""

    def read(self, block: int) -> object: ...
    def write(self, block: int, held: object) -> None: ...


Model = Callable[[list[Row]], list[int]]


@dataclass(eq=False)
class Node:
    """A full block in the tree: the tokens that it holds, and the full blocks that may follow it."""

    block: int
    key: tuple[int, ...] = ()
    parent: "Node | None" = None
    children: dict[tuple[int, ...], "Node"] = field(default_factory=dict)
    used: int = 0


@dataclass(eq=False)
class Text:
    """One continuation of a prompt. done: how many of its tokens are in the cache. host: what its blocks held."""

    name: str
    sample: int
    tokens: list[int]
    prompt: int
    max_tokens: int
    stop: frozenset[int]
    rank: tuple[int, int]  # priority and arrival: the lowest comes first
    samples: int = 1
    done: int = 0
    blocks: list[int] = field(default_factory=list)
    host: list[object] = field(default_factory=list)

    @property
    def ready(self) -> bool:
        """Whether its prompt is in the cache, and its next token can be computed."""
        return len(self.tokens) > self.prompt or self.done == self.prompt


class Blocks:
    """Who uses which block, and the tree of those that are kept."""

    def __init__(self, count: int, size: int, reuse: bool) -> None:
        self.size, self.reuse, self.time = size, reuse, 0
        self.free = list(range(count))
        self.users = [0] * count
        self.root = Node(-1)
        self.nodes: dict[int, Node] = {}

    @property
    def room(self) -> int:
        """How many blocks nobody uses: free ones, and those in the tree that can leave it."""
        return len(self.free) + sum(not self.users[block] for block in self.nodes)

    def take(self) -> int:
        """Return a block for one user; the caller has checked that there is room."""
        if not self.free:
            leaves = [node for node in self.nodes.values() if not node.children and not self.users[node.block]]
            oldest = min(leaves, key=lambda node: node.used)
            del oldest.parent.children[oldest.key], self.nodes[oldest.block]
            self.free.append(oldest.block)
        block = self.free.pop()
        self.users[block] = 1
        return block

    def match(self, tokens: Sequence[int]) -> list[int]:
        """Return the blocks of the longest known beginning, for one more user; at least one token is left to compute."""
        found, node = [], self.root
        self.time += 1
        for at in range(0, len(tokens) - self.size, self.size):
            node = node.children.get(tuple(tokens[at : at + self.size])) if self.reuse else None
            if node is None:
                break
            node.used = self.time
            self.users[node.block] += 1
            found.append(node.block)
        return found

    def keep(self, tokens: Sequence[int], blocks: Sequence[int]) -> None:
        """Put full blocks into the tree, unless it has a block with the same beginning."""
        node = self.root
        self.time += 1
        for number in range(len(tokens) // self.size if self.reuse else 0):
            key = tuple(tokens[number * self.size : (number + 1) * self.size])
            if key not in node.children:
                node.children[key] = self.nodes[blocks[number]] = Node(blocks[number], key, node)
            node = node.children[key]
            if node.block != blocks[number]:
                return  # what follows would keep another's block from leaving
            node.used = self.time

    def leave(self, blocks: Sequence[int]) -> None:
        """One user no longer needs these blocks."""
        for block in reversed(blocks):
            self.users[block] -= 1
            if not self.users[block] and block not in self.nodes:
                self.free.append(block)


class Engine:
    """The lowest rank first: in the queue, in the cache, and back from the host."""

    def __init__(
        self, model: Model, memory: Memory, *, rows: int, budget: int, size: int, blocks: int, longest: int, chunks: bool,
        reuse: bool, ranked: bool,
    ) -> None:  # fmt: skip
        self.model, self.memory = model, memory
        self.rows, self.budget, self.chunks, self.ranked = rows, budget, chunks, ranked
        self.longest, self.places = min(longest, size * blocks), 2 * rows
        self.blocks = Blocks(blocks, size, reuse)
        self.total = blocks
        self.waiting: list[Text] = []
        self.running: list[Text] = []
        self.swapped: list[Text] = []
        self.turn: list[Text] = []  # those with a next token to compute: the first is the next
        self.arrived, self.swaps = 0, 0
        self.filled = False  # whether the last iteration computed prompts

    @property
    def busy(self) -> bool:
        """Whether there is work."""
        return bool(self.waiting or self.running or self.swapped)

    def add(
        self, name: str, prompt: Sequence[int], max_tokens: int, stop: Sequence[int], priority: int, samples: int
    ) -> None:
        """Queue a request; ValueError if it cannot be served."""
        if not prompt or max_tokens < 1 or samples < 1:
            raise ValueError("a prompt, a text and the number of samples are at least 1")
        if len(prompt) >= self.longest:
            raise ValueError(f"the prompt has {len(prompt)} tokens, and a sequence at most {self.longest}")
        if any(one.name == name for one in self._all()):
            raise ValueError(f"there is a request {name}")
        rank = (priority if self.ranked else 0, self.arrived)
        self.arrived += 1
        self.waiting.append(Text(name, 0, list(prompt), len(prompt), max_tokens, frozenset(stop), rank, samples))
        self.waiting.sort(key=lambda one: one.rank)

    def abort(self, name: str) -> list[int]:
        """Take a request back; return the samples that had not ended."""
        gone = [one for one in self._all() if one.name == name]
        for one in gone:
            self._remove(one)
        return [number for one in gone for number in range(one.sample, one.sample + one.samples)]

    def step(self) -> list[Said]:
        """Run one iteration; return what is new."""
        self._bring()
        prompts = sorted((one for one in self.running if not one.ready), key=lambda one: one.rank)
        if prompts and not (self.filled and self.turn):
            self.filled = True
            return self._fill(prompts)
        self.filled = False
        return self._go_on()

    def _all(self) -> list[Text]:
        return [*self.waiting, *self.running, *self.swapped]

    def _need(self, tokens: int) -> int:
        return -(-tokens // self.blocks.size)

    def _bring(self) -> None:
        """Bring sequences back from the host, then admit; a lower rank gives way to a higher priority."""
        while queue := sorted((*self.swapped, *self.waiting), key=lambda one: (one.rank, one.sample)):
            one = queue[0]
            while not self._fits(one):
                lower = [other for other in self.running if other.rank[0] > one.rank[0]]
                if not lower:
                    return
                self._swap(max(lower, key=lambda other: (other.rank, other.sample)))
            if one in self.swapped:
                self.swapped.remove(one)
                one.blocks = [self.blocks.take() for _ in one.host]
                for block, held in zip(one.blocks, one.host, strict=True):
                    self.memory.write(block, held)
                one.host = []
            else:
                self.waiting.remove(one)
                one.blocks = self.blocks.match(one.tokens)
                one.done = len(one.blocks) * self.blocks.size
                one.blocks += [self.blocks.take() for _ in range(self._need(one.prompt) - len(one.blocks))]
            self.running.append(one)
            if one.ready:
                self.turn.append(one)

    def _fits(self, one: Text) -> bool:
        """Whether there is a place and room for a sequence and its next token."""
        if one in self.waiting:
            matched = self.blocks.match(one.tokens)
            need = self._need(one.prompt + 1) - len(matched)
            fits = self.blocks.room >= need
            self.blocks.leave(matched)
        else:
            fits = self.blocks.room >= self._need(len(one.tokens))
        return fits and len(self.running) < self.places

    def _fill(self, prompts: list[Text]) -> list[Said]:
        """Compute prompts, those that came first to their ends."""
        chosen, left = [], self.budget
        for one in prompts[: self.rows]:
            count = min(one.prompt - one.done, left)
            if not count or (not self.chunks and count < one.prompt - one.done):
                break
            left -= count
            chosen.append((one, count))
        return self._compute(chosen)

    def _go_on(self) -> list[Said]:
        """Compute the next token of those whose turn it is; the first in rank gets its block first."""
        chosen: list[Text] = []
        for one in sorted(self.turn[: self.rows], key=lambda one: (one.rank, one.sample)):
            if one in self.turn and self._grow(one, chosen):
                chosen.append(one)
        self.turn = [one for one in self.turn if one not in chosen] + chosen
        return self._compute([(one, 1) for one in chosen])

    def _grow(self, one: Text, chosen: list[Text]) -> bool:
        """See that a sequence has a block for its next token; the last in rank may have to go to the host for it."""
        while self._need(len(one.tokens)) > len(one.blocks):
            if self.blocks.room:
                one.blocks.append(self.blocks.take())
                break
            others = [other for other in self.running if other not in chosen]
            victim = max(others, key=lambda other: (other.rank, other.sample))
            self._swap(victim)
            if victim is one:
                return False
        return True

    def _swap(self, one: Text) -> None:
        one.host = [self.memory.read(block) for block in one.blocks]
        self._remove(one)
        self.swapped.append(one)
        self.swaps += 1

    def _remove(self, one: Text) -> None:
        for queue in (self.waiting, self.running, self.swapped, self.turn):
            if one in queue:
                queue.remove(one)
        self.blocks.leave(one.blocks)
        one.blocks = []

    def _compute(self, chosen: list[tuple[Text, int]]) -> list[Said]:
        rows = [Row(one.tokens[one.done : one.done + count], one.done, one.blocks) for one, count in chosen]
        said = []
        for (one, count), token in zip(chosen, self.model(rows) if rows else (), strict=True):
            one.done += count
            if one.done < len(one.tokens):
                continue
            if one.done == one.prompt:
                self.blocks.keep(one.tokens, one.blocks)
                self.turn.append(one)
                others = self._fork(one)
                said += [self._append(other, token) for other in (one, *others)]
            else:
                said.append(self._append(one, token))
        return said

    def _fork(self, one: Text) -> list[Text]:
        """Return the other samples of a prompt: they begin on the host, with a copy of what its blocks hold."""
        made = []
        for sample in range(1, one.samples):
            held = [self.memory.read(block) for block in one.blocks]
            made.append(
                Text(one.name, sample, list(one.tokens), one.prompt, one.max_tokens, one.stop, one.rank, 1, one.done)
            )
            made[-1].host = held
            self.swapped.append(made[-1])
        one.samples = 1
        return made

    def _append(self, one: Text, token: int) -> Said:
        one.tokens.append(token)
        full = len(one.tokens) - one.prompt == one.max_tokens or len(one.tokens) == self.longest
        end = "stop" if token in one.stop else "length" if full else ""
        if end:
            if one.blocks:
                self.blocks.keep(one.tokens[: one.done], one.blocks)
            self._remove(one)
        return Said(one.name, token, end, one.sample)
