"""How a user asks for several load generators: so many workers, started here or coming from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec

from batchproof.load.spread.crew import NEEDED, Crew
from batchproof.targets.protocol import Misuse


@dataclass(frozen=True)
class Wanted:
    """workers: how many; 0: this process sends alone. come_to: HOST:PORT for workers from elsewhere; "": started here."""

    workers: int = 0
    come_to: str = ""

    def check(self) -> None:
        """Raise Misuse if it makes no sense, or cannot be had."""
        if self.come_to:
            host_and_port(self.come_to, "--workers-from")
            if self.workers < 1:
                raise Misuse("--workers-from needs --workers: how many workers will come")
        if self.workers and find_spec("locust") is None:
            raise Misuse(f"--workers: {NEEDED}")

    def crew(self, said: Callable[[str], None]) -> AbstractContextManager[Crew | None]:
        """Start the crew, to be used as a context; None without workers. Misuse and CrewError as `Crew` raises them."""
        self.check()
        if not self.workers:
            return nullcontext()
        if not self.come_to:
            return Crew(self.workers, said=said)
        return Crew(self.workers, bind=host_and_port(self.come_to, "--workers-from"), ours=False, said=said)

    def words(self) -> dict[str, str | int]:
        """Return the options that ask for it."""
        return {"--workers": self.workers, "--workers-from": self.come_to}


def host_and_port(text: str, option: str) -> tuple[str, int]:
    """Read HOST:PORT; Misuse says what is wrong with it."""
    host, colon, port = text.rpartition(":")
    if not (host and colon and port.isdecimal() and int(port) < 1 << 16):
        raise Misuse(f"{option} {text}: write HOST:PORT, such as 127.0.0.1:5557")
    return host, int(port)
