"""A tiny batcher that speaks JSON lines, as a program in another language would: `double.py [FAULT]`.

It needs nothing but Python. A fault is one thing that it does wrong; `FAULTS` says what each is.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

FAULTS = {
    "text": "prints on standard output",
    "greets": "prints before the first message",
    "dies": "ends with status 3 at the first request",
    "dies-early": "ends when it is configured",
    "silent": "never answers a request",
    "dies-later": "ends with status 3 at the twentieth request",
    "deaf": "never answers anything",
    "no-batch": "leaves a field out of its answer",
    "text-number": "writes a word where a number belongs",
    "twice": "answers each request twice",
    "broken": "says that it is broken when it is configured",
    "refuses": "cannot have this configuration",
    "shy": "has no optional verb",
    "fragile": "ends with status 1 when its model raises",
    "drops": "never answers what comes after 'stop'",
    "deep": "answers with brackets in brackets, a hundred thousand deep",
    "deep-id": "answers with valid JSON whose info is nested deeply",
    "binary": "writes bytes that are not UTF-8",
    "zeros": "writes NUL bytes",
    "endless": "writes a line that does not end",
    "array": "writes valid JSON that is not an object",
    "invents": "answers what nobody has asked, again and again",
    "empty-later": "leaves everything out of its answers after the first",
}
FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
RAW = {
    "deep": b"[" * 100_000 + b"]" * 100_000 + b"\n",
    "binary": b'{"id": "\xff"}\n',
    "zeros": b"\0\0\0\n",
    "array": b"[1, 2]\n",
}
VERBS = [] if FAULT == "shy" else ["release", "log", "queued", "cancel", "deploy_defaults"]
CLAIMS = {"delay": True, "defaults": True, "close": True}
START = {"name": "double", "version": "1.0", "claims": CLAIMS, "verbs": VERBS, "monotonic": True}


class Double:
    """One batcher with one instance: its queue, its gates, its log."""

    def __init__(self) -> None:
        self.writes, self.changed = threading.Lock(), threading.Condition()
        self.waiting: list[Any] = []
        self.came = self.answered = 0
        self.opened, self.lines, self.batches, self.closing = set[Any](), list[Any](), 0, False

    def say(self, answer: dict[str, Any]) -> None:
        """Write one line."""
        with self.writes:
            print(json.dumps(answer), flush=True)

    def loop(self) -> None:
        """Execute batches: a full one at once, any other when its oldest request has waited for the delay."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.waiting or self.closing)
                if not self.waiting:
                    return
                due = self.waiting[0]["came"] + self.delay
                self.changed.wait_for(lambda: len(self.waiting) >= self.size, max(0, due - time.monotonic_ns()) / 1e9)
                batch, self.waiting = self.waiting[: self.size], self.waiting[self.size :]
            if batch:
                self.execute(batch)

    def execute(self, items: list[Any]) -> None:
        """Execute one batch, as the witness does, and answer it."""
        asks, enter = [item["ask"] for item in items], time.monotonic_ns()
        serials, rows = [ask["serial"] for ask in asks], [ask["rows"] for ask in asks]
        self.batches += 1
        where = {"instance": 0, "batch": self.batches}
        with self.changed:
            self.lines.append({**where, "enter_ns": enter, "serials": serials, "rows": rows})
            self.changed.wait_for(lambda: {ask["hold"] for ask in asks} - {0} <= self.opened, 60)
        time.sleep(max(ask["work_ns"] + ask["row_work_ns"] * sum(rows) for ask in asks) / 1e9)
        if FAULT == "fragile" and any(ask["fail"] for ask in asks):
            sys.stderr.write("unhandled error\n")
            sys.stderr.flush()
            os._exit(1)
        failed, leave = any(ask["fail"] for ask in asks), time.monotonic_ns()
        self.lines.append({**where, "exit_ns": leave, "failed": failed})
        info = {**where, "requests": len(items), "rows": sum(rows), "enter_ns": enter, "exit_ns": str(leave)}
        for place, (item, serial) in enumerate(zip(items, serials, strict=True)):
            if failed:
                self.refuse(item["id"], "failed", "asked to fail")
            else:
                self.answer(item["id"], {"echo": item["input"], "info": {**info, "serial": serial, "position": place}})

    def answer(self, number: int, answer: dict[str, Any]) -> None:
        """Write the answer to a request."""
        if FAULT in RAW:
            sys.stdout.buffer.write(RAW[FAULT])
            sys.stdout.buffer.flush()
        while FAULT == "endless":
            print("x" * 65536, end="", flush=True)
        while FAULT == "invents":
            self.say({"id": 10**6})
        if FAULT == "deep-id":
            answer["info"]["batch"] = json.loads("[" * 500 + "]" * 500)
        if FAULT == "empty-later":
            self.answered += 1
            answer = answer if self.answered == 1 else {}
        if FAULT == "no-batch":
            del answer["info"]["batch"]
        if FAULT == "text-number":
            answer["info"]["instance"] = "first"
        for _ in range(1 + (FAULT == "twice")):
            self.say({"id": number, **answer})

    def refuse(self, number: int, kind: str, why: str) -> None:
        """Write that there is no answer."""
        self.say({"id": number, "refused": {"kind": kind, "message": why}})

    def start(self, _: Any) -> dict[str, Any]:
        """Say who this is."""
        return START

    def configure(self, message: Any) -> dict[str, Any]:
        """Begin to serve."""
        if FAULT == "dies-early":
            sys.exit("out of memory")
        if FAULT == "broken":
            return {"error": "no device: plug one in"}
        config = message["config"]
        if FAULT == "refuses" or config["queue_timeout_ns"]:
            return {"unsupported": "queue_timeout"}
        if config["instances"] > 1:
            return {"unsupported": "instances"}
        self.serve(config["max_batch_size"], config["max_queue_delay_ns"])
        return {}

    def deploy_defaults(self, _: Any) -> dict[str, Any]:
        """Begin to serve with nothing set: batches of eight, and no delay."""
        self.serve(8, 0)
        return {}

    def serve(self, size: int, delay: int) -> None:
        """Start the only instance."""
        self.size, self.delay = size, delay
        self.thread = threading.Thread(target=self.loop, daemon=True)
        self.thread.start()

    def infer(self, message: Any) -> None:
        """Queue a request; its answer comes later."""
        if FAULT == "text":
            print("loading weights", flush=True)
        self.came += 1
        if FAULT == "dies" or (FAULT == "dies-later" and self.came == 20):
            sys.stderr.write("segmentation fault\n")
            sys.exit(3)
        if FAULT == "silent":
            return
        with self.changed:
            if not self.closing:
                self.waiting.append({**message, "came": time.monotonic_ns()})
                self.changed.notify_all()
            elif FAULT != "drops":
                self.refuse(message["id"], "closed", "closed")

    def release(self, message: Any) -> dict[str, Any]:
        """Open a gate."""
        with self.changed:
            self.opened.add(message["token"])
            self.changed.notify_all()
        return {}

    def log(self, _: Any) -> dict[str, Any]:
        """Give the new lines."""
        lines, self.lines = self.lines, []
        return {"lines": lines}

    def queued(self, _: Any) -> dict[str, Any]:
        """Count what waits."""
        return {} if FAULT == "empty-later" else {"queued": len(self.waiting)}

    def cancel(self, message: Any) -> dict[str, Any]:
        """Take a request back, if it still waits."""
        with self.changed:
            gone = [item for item in self.waiting if item["id"] == message["request"]]
            self.waiting = [item for item in self.waiting if item not in gone]
        for item in gone:
            self.refuse(item["id"], "cancelled", "taken back")
        return {}

    def stop(self, message: Any) -> None:
        """Serve what is queued, and answer then: until that, other messages still come."""
        with self.changed:
            self.closing = True
            self.changed.notify_all()

        def wait() -> None:
            self.thread.join()
            self.say({"id": message["id"]})

        threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Answer each line."""
    double = Double()
    if FAULT == "greets":
        print("double 1.0 is ready", flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        answer = None if FAULT == "deaf" else getattr(double, message["do"])(message)
        if answer is not None:
            double.say({"id": message["id"], **answer})


if __name__ == "__main__":
    main()
