"""Runs ONNX Runtime GenAI's Engine, one `run()` at a time. This file travels: see `host.py`."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime_genai as og
from batchproof_witness.device import DEVICE
from engine_host import CannotHave, Host, serve
from onnxruntime_extensions import get_library_path
from onnxruntime_genai import EngineEventFlags, FinishReason
from onnxruntime_genai_witness import Told, write

EVENTS = 256  # of an iteration, at most: one for each row
REASONS = {
    FinishReason.EOS: "stop", FinishReason.STOP_STRING: "stop", FinishReason.MAX_GENERATED_TOKENS: "length",
    FinishReason.MAX_SESSION_TOKENS: "length", FinishReason.CANCELLED: "abort", FinishReason.FAILED: "error",
}  # fmt: skip


class Sent:
    """A request under way: the engine's object for it, and the number of its turn."""

    def __init__(self, name: str, request: Any, turn: int) -> None:
        self.name, self.request, self.turn = name, request, turn


class OnnxRuntimeGenAIHost(Host):
    """Each engine has a model of its own, whose genai_config.json is the configuration."""

    name, version = "onnxruntime-genai", metadata.version("onnxruntime-genai")
    pace = DEVICE

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(__file__).with_name("model").resolve()
        os.chdir(Path(get_library_path()).parent)  # a model may name libraries below the current folder only
        self.engine: Any = None
        self.sent: list[Sent] = []
        Told.tell = self.told

    def start(self, config: dict[str, Any]) -> None:
        """Open an engine."""
        if config["policy"] != "fcfs":
            raise CannotHave("priorities of requests")
        if not config["chunked_prefill"]:
            raise CannotHave("prompts that are always computed in one iteration")
        self.stop()
        self.engine = og.Engine(og.Model(str(write(self.folder, config))))
        self.events = self.engine.create_event_buffer(EVENTS)
        self.number = 0

    def submit(self, request: dict[str, Any]) -> None:
        """Begin the one turn of a new request. A request that is refused is closed."""
        if request["samples"] > 1:
            raise CannotHave("several continuations")
        asked = self.engine.create_request()
        try:
            options = og.TurnOptions(asked)
            options.set_max_generated_tokens(request["max_tokens"])
            turn = asked.begin_turn(np.array(request["prompt"], np.int32), options)
        except Exception:
            asked.close()
            raise
        self.sent.append(Sent(request["name"], asked, turn))

    def step(self) -> bool:
        """Run an iteration, and read its events. A request whose turn is over is closed: else it keeps its KV blocks."""
        for event in self.engine.run(self.events):
            one = next((one for one in self.sent if one.request == event.request), None)
            if one is None:
                continue
            flags = int(event.flags)
            tokens = [event.token] if flags & int(EngineEventFlags.TOKEN) else []
            end = REASONS[event.finish_reason] if flags & int(EngineEventFlags.TURN_FINISHED) else ""
            if flags & int(EngineEventFlags.FAILED):
                end = "error"
            if tokens or end:
                self.put(one.name, tokens, end, text=str(event.error_code) if end == "error" else "")
            if end:
                one.request.close()
                self.sent.remove(one)
        return bool(self.engine.has_pending_requests())

    def abort(self, name: str) -> None:
        """Cancel the turns of this name."""
        for one in self.sent:
            if one.name == name:
                one.request.cancel_turn(one.turn)

    def gauges(self) -> dict[str, float]:
        """Return nothing: the engine publishes none."""
        return {}

    def stop(self) -> None:
        """End the engine."""
        for one in self.sent:
            one.request.close()
        self.sent, self.events, self.engine = [], None, None

    def told(self, enter_ns: int, exit_ns: int, rows: list[list[Any]]) -> None:
        """Note an iteration that the model has seen."""
        self.number += 1
        self.line(self.number, enter_ns, exit_ns, rows)


if __name__ == "__main__":
    serve(OnnxRuntimeGenAIHost())
