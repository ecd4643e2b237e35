"""Adapters whose `submit` or whose answers are wrong."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np

from batchproof.suites.selftest.commands.adapter.wrong_adapters.right import Deployed, changed
from batchproof.targets import Kind, Refused, Request, Response


class _Raises(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        raise ConnectionError("no connection")


class _ReturnsTheAnswer(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        self.inner.submit(request)
        return "an answer"


class _Blocks(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        future = self.inner.submit(request)
        future.exception()
        return future


class _Connects(Deployed):
    """Right, but its first call takes long, as on a busy host or with a connection to open."""

    connected = False

    def submit(self, request: Request) -> Any:
        future = self.inner.submit(request)
        if not self.connected:
            self.connected = True
            future.exception()
        return future


class _Silent(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        self.inner.submit(request)
        return Future()


class _Fails(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        def fail(_: Response) -> Response:
            raise Refused(Kind.LOST, "connection reset")

        return changed(self.inner.submit(request), fail)


class _FailsWithItsOwn(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        def fail(_: Response) -> Response:
            raise KeyError("outputs")

        return changed(self.inner.submit(request), fail)


class _Floats(Deployed):
    def submit(self, request: Request) -> Any:
        def floats(answer: Response) -> Response:
            return Response(answer.echo.astype(float), answer.info)  # <- here

        return changed(self.inner.submit(request), floats)


class _SmallIntegers(Deployed):
    def submit(self, request: Request) -> Any:
        def small(answer: Response) -> Response:
            return Response(answer.echo, answer.info.astype(np.int32))  # <- here

        return changed(self.inner.submit(request), small)


class _Flat(Deployed):
    def submit(self, request: Request) -> Any:
        def flat(answer: Response) -> Response:
            return Response(answer.echo[0], answer.info)  # <- here

        return changed(self.inner.submit(request), flat)


class _Pairs(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        return changed(self.inner.submit(request), lambda answer: (answer.echo, answer.info))


class _OldWitness(Deployed):
    def submit(self, request: Request) -> Any:
        def old(answer: Response) -> Response:
            answer.info[:, 0] = 1
            return Response(answer.echo, answer.info)  # <- here

        return changed(self.inner.submit(request), old)


class _Mixed(Deployed):
    last: Any = None

    def submit(self, request: Request) -> Any:
        def previous(answer: Response) -> Response:
            self.last, mine = answer, self.last or answer
            return Response(mine.echo, mine.info)  # <- here

        return changed(self.inner.submit(request), previous)


class _LosesTheWork(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        plain = replace(request, payload=replace(request.payload, work_ns=0))
        return changed(self.inner.submit(plain), lambda answer: replace(answer, echo=request.tensor()))


class _LosesTheGate(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        return changed(self.inner.submit(replace(request, hold=0)), lambda answer: replace(answer, echo=request.tensor()))
