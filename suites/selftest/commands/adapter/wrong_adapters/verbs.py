"""Adapters that cancel, refuse, close or number wrongly, or leave something behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from batchproof.reference_batcher import Batcher
from batchproof.suites.selftest.commands.adapter.wrong_adapters.right import Deployed, changed
from batchproof.targets import Kind, Refused, Request, Response, Witness
from batchproof.targets.reference import ReferenceDeployment, _model


class _CancelsNothing(Deployed):
    def cancel(self, future: Any) -> None:  # <- here
        pass


def _settle(outer: Any, done: Any) -> None:
    error = done.exception()
    if error:
        outer.set_exception(error)
    else:
        outer.set_result(done.result())


class _CancelsSilently(Deployed):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.gone: set[Any] = set()
        self.sent: dict[Any, Any] = {}

    def submit(self, request: Request) -> Any:
        inner, outer = self.inner.submit(request), Future()
        self.sent[outer] = inner
        inner.add_done_callback(lambda done: outer in self.gone or _settle(outer, done))
        return outer

    def cancel(self, future: Any) -> None:
        self.gone.add(future)
        self.inner.cancel(self.sent[future])


class _CancelRaises(Deployed):
    def cancel(self, future: Any) -> None:
        raise NotImplementedError  # <- here


def refused_as(kind: Kind | None, only: Kind) -> type:
    """Return a deployment that says `kind` where it should say `only`; None: it raises an exception of its own."""

    class Deployment(Deployed):
        def submit(self, request: Request) -> Any:
            outer: Any = Future()

            def settle(done: Future[Response]) -> None:
                error = done.exception()
                if error is None:
                    outer.set_result(done.result())
                elif error.kind is only:
                    outer.set_exception(Refused(kind, "no") if kind else OSError("status 500"))
                else:
                    outer.set_exception(error)

            inner = self.inner.submit(request)
            outer.inner = inner.inner
            inner.add_done_callback(settle)
            return outer

    return Deployment


class _FailsAsOther(refused_as(Kind.OTHER, Kind.FAILED)):
    def submit(self, request: Request) -> Any:  # <- here
        return super().submit(request)


class _FailsAsItself(refused_as(None, Kind.FAILED)):
    def submit(self, request: Request) -> Any:  # <- here
        return super().submit(request)


class _ExpiresAsOther(refused_as(Kind.OTHER, Kind.EXPIRED)):
    def submit(self, request: Request) -> Any:  # <- here
        return super().submit(request)


class _FailureIsAnAnswer(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        plain = replace(request, payload=replace(request.payload, fail=False))
        return changed(self.inner.submit(plain), lambda answer: replace(answer, echo=request.tensor()))


class _CloseRaises(Deployed):
    def close(self) -> None:  # <- here
        self.inner.close()
        raise ProcessLookupError("no such process")


class _OneNumber(ReferenceDeployment):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._batcher.close()
        for witness in self._witnesses:
            witness.close()
        self._witnesses = [Witness(self._folder, 0) for _ in range(config.instances)]  # <- here
        self._batcher = Batcher([_model(witness) for witness in self._witnesses], config)


class _OneFolder(ReferenceDeployment):
    def __init__(self, config: Any, folder: str) -> None:
        super().__init__(config)
        self._batcher.close()
        for witness in self._witnesses:
            witness.close()
        self._folder = folder
        self._witnesses = [Witness(folder, instance) for instance in range(config.instances)]  # <- here
        self._batcher = Batcher([_model(witness) for witness in self._witnesses], config)

    def finish(self) -> None:
        self.close()
        for witness in self._witnesses:
            witness.close()


class _LeavesAProcess(Deployed):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        call = "import os, time; os.fork() or os.setsid() or time.sleep(60)"
        subprocess.run([sys.executable, "-c", call], check=True)

    def finish(self) -> None:  # <- here
        super().finish()


class _LeavesAThread(Deployed):
    go_on = threading.Event()

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        threading.Thread(target=self.go_on.wait, args=(60,), name="heartbeat").start()

    def finish(self) -> None:  # <- here
        super().finish()
