"""An adapter for the engine of `lanes_engine.py` behind an event loop: it iterates whenever there is work.

What clients do is done between two iterations. Each request has a queue for what it says, and a client that goes away takes
its request back. A gate holds the model between the steps of a rule.
"""

import asyncio
import threading
from collections import deque
from queue import Empty, SimpleQueue

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets import TargetInfo
from batchproof.targets.engines import Generation, Output
from batchproof.targets.witness.gate import Gate

from .lanes_adapter import CLAIMS, Drafting
from .lanes_engine import Said

FREE = {name: value for name, value in CLAIMS.items() if name != "joins_within"} | {"iterations": "free", "speculates": 3}


class Opened:
    """An event loop on its own thread, and the engine's iterations on another. What comes out goes through one queue."""

    def __init__(self, config: EngineConfig) -> None:
        self.inner = Drafting(config)
        self.gate = Gate()
        self.inner.cells.gate = self.gate
        self.said: SimpleQueue[Output] = SimpleQueue()
        self.inbox: deque[Generation | str] = deque()  # what is sent, and the names of what is taken back
        self.queues: dict[str, asyncio.Queue[Said]] = {}
        self.clients: dict[str, asyncio.Task] = {}
        self.loop = asyncio.new_event_loop()
        self.work = asyncio.Event()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self._iterate(), self.loop)

    async def _iterate(self) -> None:
        engine = self.inner.engine
        while True:
            await self.work.wait()
            while self.inbox:
                self._take(self.inbox.popleft())
            for said in await self.loop.run_in_executor(None, engine.step):
                if said.name in self.queues:
                    self.queues[said.name].put_nowait(said)
            if not engine.busy and not self.inbox:
                self.work.clear()
            await asyncio.sleep(0)

    def _take(self, one: Generation | str) -> None:
        if isinstance(one, str):
            if self.inner.engine.cancel(one):
                self._leave(one)
                self.said.put(Output(one, end="abort"))
            return
        try:
            self.inner.engine.add(one.name, one.prompt, one.max_tokens, one.stop)
        except ValueError as refusal:
            self.said.put(Output(one.name, end="refused", text=str(refusal)))
            return
        self.queues[one.name] = asyncio.Queue()
        self.clients[one.name] = self.loop.create_task(self._serve(one.name, self.queues[one.name]))

    async def _serve(self, name: str, queue: asyncio.Queue[Said]) -> None:
        """Do what a client does: read a request's queue until its text ends."""
        while True:
            said = await queue.get()
            self.said.put(Output(*said))
            if said.end:
                self._leave(name)
                return

    def _leave(self, name: str) -> None:
        self.queues.pop(name, None)
        if (client := self.clients.pop(name, None)) and client is not asyncio.current_task(self.loop):
            client.cancel()

    def _send(self, one: Generation | str) -> None:
        self.inbox.append(one)
        self.loop.call_soon_threadsafe(self.work.set)

    def submit(self, request: Generation) -> None:
        """Send a request. A refusal comes later."""
        self._send(request)

    def abort(self, name: str) -> None:
        """Take a request back."""
        self._send(name)

    disconnect = abort

    def step(self) -> tuple[list[Output], bool]:
        """Let the engine go on until there is something new; return it, and whether work is left."""
        self.gate.step(lambda: not self.said.empty())
        found = []
        try:
            while True:
                found.append(self.said.get_nowait())
        except Empty:
            pass
        busy = bool(self.inner.engine.busy or self.inbox or self.clients)
        return found, busy or not self.said.empty()

    def log(self) -> list[dict]:
        """Return the witness's new lines."""
        return self.inner.log()

    def gauges(self) -> dict[str, float]:
        """Return what the engine says about itself."""
        return self.inner.gauges()

    def device(self, base_ns: int, token_ns: int) -> None:
        """From now on, an iteration takes this long."""
        self.inner.device(base_ns, token_ns)

    def close(self) -> None:
        """End the loop and its thread."""
        self.gate.remove()

        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await self.loop.shutdown_default_executor()

        asyncio.run_coroutine_threadsafe(end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


class LanesServed:
    """The target: an engine that iterates by itself."""

    info = TargetInfo("lanes-served", "1.0", "served_adapter:LanesServed", claims=FREE, discipline="continuous")
    engine = Opened
