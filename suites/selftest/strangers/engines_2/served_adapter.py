"""An adapter for the engine of `lanes_engine.py` behind an event loop of its own: it iterates whenever there is work.

Each request has a queue for what it says. A client that goes away cancels its coroutine, and that cancels the request.
"""

import asyncio
import threading
from queue import Empty, SimpleQueue

from lanes_adapter import CLAIMS, Drafting
from lanes_engine import Said

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets import TargetInfo
from batchproof.targets.engines import Generation, Output


class Opened:
    """An event loop on its own thread. What comes out of it goes through one queue to the thread of the rules."""

    def __init__(self, config: EngineConfig) -> None:
        self.inner = Drafting(config)
        self.inner.device(2_000_000, 0)  # a model that takes no time would be done before anything can be taken back
        self.said: SimpleQueue[Output] = SimpleQueue()
        self.clients: dict[str, asyncio.Task] = {}
        self.queues: dict[str, asyncio.Queue[Said]] = {}
        self.open: set[str] = set()
        self.loop = asyncio.new_event_loop()
        self.work = asyncio.Event()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self._iterate(), self.loop)

    async def _iterate(self) -> None:
        engine = self.inner.engine
        while True:
            await self.work.wait()
            for said in engine.step():
                if said.name in self.queues:
                    self.queues[said.name].put_nowait(said)
            if not engine.busy:
                self.work.clear()
            await asyncio.sleep(0)

    async def _serve(self, request: Generation) -> None:
        """Do what a client does: read a request's queue until its text ends."""
        queue = self.queues[request.name]
        try:
            while True:
                said = await queue.get()
                self.said.put(Output(*said))
                if said.end:
                    return
        finally:
            self._leave(request.name)

    def _leave(self, name: str) -> None:
        """A client is gone: nobody reads its queue, and its request is cancelled if its text has not ended."""
        if self.clients.pop(name, None) and self.inner.engine.cancel(name):
            self.said.put(Output(name, end="abort"))
        self.queues.pop(name, None)

    def _abort(self, name: str) -> None:
        if name in self.clients:
            self.clients[name].cancel()
            self._leave(name)  # a task that is cancelled before it begins never comes to its `finally`

    def _submit(self, request: Generation) -> None:
        try:
            self.inner.engine.add(request.name, request.prompt, request.max_tokens, request.stop)
        except ValueError as refusal:
            self.said.put(Output(request.name, end="refused", text=str(refusal)))
            return
        self.queues[request.name] = asyncio.Queue()
        self.clients[request.name] = self.loop.create_task(self._serve(request))
        self.work.set()

    def _call(self, function, *arguments):
        """Run a function on the loop's thread, and return what it returns."""

        async def call():
            return function(*arguments)

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result()

    def submit(self, request: Generation) -> None:
        """Send a request."""
        self._call(self._submit, request)

    def step(self) -> tuple[list[Output], bool]:
        """Wait a little for something new; return it, and whether work is left."""
        found = []
        try:
            found.append(self.said.get(timeout=0.02))
            while True:
                found.append(self.said.get_nowait())
        except Empty:
            pass
        return found, bool(self._call(lambda: self.inner.engine.busy or self.clients)) or not self.said.empty()

    def abort(self, name: str) -> None:
        """Take a request back."""
        self._call(self._abort, name)

    disconnect = abort

    def log(self) -> list[dict]:
        """Return the witness's new lines."""
        return self._call(self.inner.log)

    def gauges(self) -> dict[str, float]:
        """Return what the engine says about itself."""
        return self._call(self.inner.gauges)

    def device(self, base_ns: int, token_ns: int) -> None:
        """From now on, an iteration takes this long."""
        self._call(self.inner.device, base_ns, token_ns)

    def close(self) -> None:
        """End the loop and its thread."""

        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


class LanesServed:
    """The target: an engine that iterates by itself."""

    claims = {**{name: value for name, value in CLAIMS.items() if name != "joins_within"}, "iterations": "free"}
    info = TargetInfo("lanes-served", "1.0", "served_adapter:LanesServed", claims=claims, discipline="continuous")
    engine = Opened
