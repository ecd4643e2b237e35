"""Continuous batching over lanes: each lane has a contiguous cache of its own, and keeps it for the next prompt like it.

A lane serves one request at a time. A request goes to the idle lane that shares the longest beginning with it. With a
draft, up to `ahead` guessed tokens are computed after a text's last one, and kept as far as the model agrees with them.
There is no context shift: a text that fills its lane ends.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Row(NamedTuple):
    """Part of an iteration: new tokens for a lane's cache from `start` on, and how many of the last it has to follow up."""

    lane: int
    start: int
    tokens: list[int]
    checks: int


class Said(NamedTuple):
    """New tokens of a request, and how its text has ended, or ""."""

    name: str
    tokens: tuple[int, ...]
    end: str


Model = Callable[[list[Row]], list[list[int]]]
Draft = Callable[[Sequence[int], int], Sequence[int]]


@dataclass
class Task:
    """A request under way. tokens: the prompt and the text so far."""

    name: str
    tokens: list[int]
    prompt: int
    max_tokens: int
    stop: frozenset[int]
    number: int


@dataclass
class Lane:
    """A contiguous cache. cells: the tokens whose entries it holds. used: when it last served a request."""

    number: int
    cells: list[int] = field(default_factory=list)
    task: Task | None = None
    used: int = 0


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many first tokens two sequences share."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


class Engine:
    """First come, first served: texts go on in every iteration, and prompts fill what is left of the batch."""

    def __init__(
        self, model: Model, *, lanes: int, batch: int, longest: int, reuse: bool, draft: Draft | None = None, ahead: int = 0
    ) -> None:
        self.model, self.batch, self.longest, self.reuse = model, batch, longest, reuse
        self.draft, self.ahead = draft, ahead
        self.lanes = [Lane(number) for number in range(lanes)]
        self.waiting: deque[Task] = deque()
        self.counts = {"prompt_tokens": 0, "output_tokens": 0, "cached_tokens": 0}
        self.time = self.arrived = 0

    @property
    def running(self) -> list[Lane]:
        """The lanes that serve a request."""
        return [lane for lane in self.lanes if lane.task]

    @property
    def busy(self) -> bool:
        """Whether there is work."""
        return bool(self.waiting or self.running)

    def add(self, name: str, prompt: Sequence[int], max_tokens: int, stop: Sequence[int] = ()) -> None:
        """Queue a request; ValueError if it cannot be served."""
        if not prompt:
            raise ValueError("the prompt is empty")
        if max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        if len(prompt) >= self.longest:
            raise ValueError(f"the prompt has {len(prompt)} tokens, and the context {self.longest}")
        if any(task.name == name for task in (*self.waiting, *(lane.task for lane in self.lanes)) if task):
            raise ValueError(f"request {name} is already being served")
        self.waiting.append(Task(name, list(prompt), len(prompt), max_tokens, frozenset(stop), self.arrived))
        self.arrived += 1

    def cancel(self, name: str) -> bool:
        """Forget a request; return whether it was there. Its lane is free at once, and its cells may serve others."""
        for task in self.waiting:
            if task.name == name:
                self.waiting.remove(task)
                return True
        for lane in self.lanes:
            if lane.task and lane.task.name == name:
                lane.task = None
                return True
        return False

    def step(self) -> list[Said]:
        """Run one iteration; return what is new."""
        self.time += 1
        self._place()
        rows = self._rows()
        said = []
        for row, following in zip(rows, self.model(rows) if rows else (), strict=True):
            lane = self.lanes[row.lane]
            lane.cells[row.start :] = row.tokens
            if len(lane.cells) >= len(lane.task.tokens):
                said.append(self._take(lane, row, following))
        return said

    def _place(self) -> None:
        """Give idle lanes to those who have waited longest."""
        while self.waiting and (idle := [lane for lane in self.lanes if not lane.task]):
            task = self.waiting.popleft()
            lane = max(idle, key=lambda one: (self._shared(one, task), -one.used))
            shared = self._shared(lane, task)
            del lane.cells[shared:]
            lane.task = task
            self.counts["cached_tokens"] += shared

    def _shared(self, lane: Lane, task: Task) -> int:
        """Return how many of a lane's cells a prompt can use: at least its last token has to be computed."""
        return min(common(lane.cells, task.tokens), task.prompt - 1) if self.reuse else 0

    def _rows(self) -> list[Row]:
        """Each text gets its next token; then prompts get tokens in the order of their arrival; then there are guesses."""
        texts = [lane for lane in self.running if len(lane.cells) == len(lane.task.tokens) - 1]
        prompts = sorted((lane for lane in self.running if lane not in texts), key=lambda lane: lane.task.number)
        left = self.batch - len(texts)
        rows = []
        for lane in prompts:
            start = len(lane.cells)
            tokens = lane.task.tokens[start : start + left]
            left -= len(tokens)
            if tokens:
                rows.append(Row(lane.number, start, tokens, 1))
        for lane in texts:
            task = lane.task
            room = min(left, self.ahead, self._left(task) - 1)
            guesses = list(self.draft(task.tokens, room)) if self.draft and room > 0 else []
            left -= len(guesses)
            rows.append(Row(lane.number, len(lane.cells), [task.tokens[-1], *guesses], 1 + len(guesses)))
        return rows

    def _left(self, task: Task) -> int:
        """Return how many more tokens a text may have."""
        return min(task.max_tokens - (len(task.tokens) - task.prompt), self.longest - len(task.tokens))

    def _take(self, lane: Lane, row: Row, following: list[int]) -> Said:
        """Take the tokens that the model agrees with, and end the text if it is complete."""
        task = lane.task
        guesses = row.tokens[len(row.tokens) - row.checks + 1 :]
        new, end = [], ""
        for place, token in enumerate(following):
            new.append(token)
            task.tokens.append(token)
            if token in task.stop:
                end = "stop"
            elif not self._left(task):
                end = "length"
            if end or place == len(guesses) or guesses[place] != token:
                break
        del lane.cells[len(task.tokens) - 1 :]
        if len(task.tokens) - len(new) == task.prompt:
            self.counts["prompt_tokens"] += task.prompt
        self.counts["output_tokens"] += len(new)
        if end:
            lane.task = None
            lane.used = self.time
        return Said(task.name, tuple(new), end)
