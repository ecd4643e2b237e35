"""A stand-in for your engine: continuous batching with a paged KV cache, as many people write it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Row = tuple[Sequence[int], int, Sequence[int]]  # new tokens, the place of the first of them, the KV blocks of the context
Model = Callable[[list[Row]], list[int]]  # what an iteration computes -> the token that follows each row


@dataclass
class Request:
    """A request under way. tokens: the prompt and the text so far. computed: how many of them are in the KV cache."""

    name: str
    tokens: list[int]
    prompt: int
    max_tokens: int
    stop: tuple[int, ...]
    computed: int = 0
    blocks: list[int] = field(default_factory=list)


class Engine:
    """First come, first served. A request gets all KV blocks that its text may need when it is admitted."""

    def __init__(self, model: Model, max_seqs: int, budget: int, block_size: int, blocks: int, longest: int) -> None:
        self.model, self.max_seqs, self.budget = model, max_seqs, budget
        self.block_size, self.longest = block_size, min(longest, blocks * block_size)
        self.free = list(range(blocks))
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []

    @property
    def busy(self) -> bool:
        """Whether there is work."""
        return bool(self.waiting or self.running)

    def add(self, name: str, prompt: Sequence[int], max_tokens: int, stop: Sequence[int] = ()) -> None:
        """Queue a request; ValueError if it cannot be served."""
        if not prompt or max_tokens < 1:
            raise ValueError("a prompt and a text have at least one token")
        if len(prompt) >= self.longest:
            raise ValueError(f"a prompt of {len(prompt)} tokens leaves no room for a text: the limit is {self.longest}")
        if any(one.name == name for one in (*self.waiting, *self.running)):
            raise ValueError(f"there is a request '{name}' already")
        self.waiting.append(Request(name, list(prompt), len(prompt), max_tokens, tuple(stop)))

    def step(self) -> list[tuple[str, int, str]]:
        """Run one iteration; return (name, new token, how its text has ended or "")."""
        self._admit()
        left, rows = self.budget - len(self.running), []
        for one in self.running:  # each gets one token, and the first prompts get what is left of the budget
            count = min(len(one.tokens) - one.computed, 1 + left)
            left -= count - 1
            rows.append((one.tokens[one.computed : one.computed + count], one.computed, one.blocks))
        found = []
        for one, row, token in zip(list(self.running), rows, self.model(rows) if rows else (), strict=True):
            one.computed += len(row[0])
            if one.computed == len(one.tokens):
                one.tokens.append(token)
                found.append((one.name, token, self._end(one)))
        return found

    def abort(self, name: str) -> bool:
        """Take a request back; return whether it was under way."""
        for queue in (self.waiting, self.running):
            for one in list(queue):
                if one.name == name:
                    queue.remove(one)
                    self.free += one.blocks
                    return True
        return False

    def _admit(self) -> None:
        while self.waiting and len(self.running) < self.max_seqs:
            one = self.waiting[0]
            need = -(-min(one.prompt + one.max_tokens, self.longest) // self.block_size)
            if need > len(self.free):
                return
            one.blocks = [self.free.pop() for _ in range(need)]
            self.running.append(self.waiting.popleft())

    def _end(self, one: Request) -> str:
        full = len(one.tokens) - one.prompt == one.max_tokens or len(one.tokens) == self.longest
        end = "stop" if one.tokens[-1] in one.stop else "length" if full else ""
        if end:
            self.running.remove(one)
            self.free += one.blocks
        return end
