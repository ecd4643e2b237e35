"""What is known of a stranger before it is judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GITHUB = "https://github.com/"


@dataclass(frozen=True)
class Stranger:
    """A batcher of one of the styles. cites: a thread in which users or authors of a real project describe this fault.

    breaks: the requirement that it breaks, in words. kills: the rules that say so, and must fail on it. Where it breaks
    other requirements as well, because nothing is served any more, `also` has the rules that may fail with them.
    claims: what it claims alongside what its style does.
    """

    name: str
    batcher: type[Any]
    cites: str = ""
    breaks: str = ""
    kills: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    claims: Mapping[str, Any] = field(default_factory=dict)

    @property
    def style(self) -> str:
        """The module of the right batcher that this one is a variation of."""
        return self.batcher.__mro__[-2].__module__.rpartition(".")[2]


def faulty(
    also: Mapping[str, tuple[str, ...]], name: str, batcher: type[Any], thread: str, breaks: str, *kills: str
) -> Stranger:
    """Return a wrong one. also: what else each of a series breaks, by name. thread: its place on GitHub."""
    return Stranger(name, batcher, GITHUB + thread, breaks, kills, also.get(name, ()))
