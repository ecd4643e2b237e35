"""What Triton itself says of a `config.pbtxt`: the embedded server, with an empty backend in place of every model's own.

The backend answers every request with an empty response. It serves any configuration and needs no model file, so what the
server says is about the configuration alone, and a load takes milliseconds.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from batchproof.targets.triton.compiled import compile_library
from batchproof.targets.triton.embedded import EmbeddedServer

LOADED, REFUSED, ENDED, SILENT = "loaded", "refused", "ended", "silent"
RELEASE = (2, 51)  # of the embedded server
PATIENCE_S = 20.0
MODEL = b"""class TritonPythonModel:
    def execute(self, requests):
        import triton_python_backend_utils as triton
        return [triton.InferenceResponse([]) for _ in requests]
"""
BACKEND = "standin"
STAND_IN = "the stand-in for the models' backends"
KNOWN = (BACKEND, "tensorrt", "onnxruntime", "pytorch", "tensorflow", "openvino", "python", "dali", "fil", "identity")
_NAMED = re.compile(rb"\bbackend\s*:\s*[\"']([A-Za-z0-9_][A-Za-z0-9_.-]{0,79})[\"']")
_STATE = re.compile(r"version \d+ is at UNAVAILABLE state: (?:[A-Z][a-z ]+: )?(.*)", re.DOTALL)
_FAILED = re.compile(r"failed to load '.*?' version -?\d+: (?:[A-Z][a-z ]+: )?(.*?)\"?$", re.MULTILINE)
_POLL = re.compile(r"Poll failed for model directory '.*?': (.*?)\"?$", re.MULTILINE)
_GONE = re.compile(r"StatusCode\.UNAVAILABLE\].*(?:connect|Socket closed|GOAWAY|reset)", re.IGNORECASE | re.DOTALL)
_PARSER = re.compile(r"Error parsing text-format inference\.ModelConfig: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """What the server did with a configuration (loaded, refused, ended, silent), and its words."""

    how: str
    words: str = ""


class ConfigurationServer:
    """An embedded Triton that loads configurations one after another; one that ends it gets a new server for the next.

    python: Python's backend is the real one, which takes a second for each load, with a model that answers nothing.
    """

    def __init__(self, *, python: bool = False) -> None:
        self._python = python
        self._server: EmbeddedServer | None = None
        self.starts = 0

    def ask(
        self,
        folder: str,
        config: bytes,
        *,
        versions: Iterable[int] = (1,),
        files: Mapping[str, bytes] = MappingProxyType({}),
        others: Mapping[str, str] = MappingProxyType({}),
    ) -> Answer:
        """Load this config.pbtxt from a model folder of this name.

        versions: the version folders that the model and those next to it have. files: what else lies in its folder.
        others: the models next to it, name -> config.pbtxt.

        On a busy host, Python's backend now and then ends the server, whatever is loaded (F-2026-35). So an end counts if
        it comes twice.
        """
        asked = folder, config, tuple(versions), files, others
        answer = self._asked(*asked)
        return self._asked(*asked) if self._python and answer.how == ENDED else answer

    def _asked(
        self, folder: str, config: bytes, versions: Sequence[int], files: Mapping[str, bytes], others: Mapping[str, str]
    ) -> Answer:
        if not folder or folder in (".", "..") or "/" in folder or "\0" in folder or len(folder.encode()) > 255:
            return Answer(REFUSED, f"'{folder}' cannot be the name of a folder")
        server = self._running()
        texts = {**{name: text.encode() for name, text in others.items()}, folder: config}
        for name in {one.decode() for text in texts.values() for one in _NAMED.findall(text)}:
            self._stand_in(server, name)
        for name, text in texts.items():
            server.write({f"{name}/config.pbtxt": text, **{f"{name}/{version}/model.py": MODEL for version in versions}})
        server.write({f"{folder}/{name}": content for name, content in files.items()})
        before = server.log()
        words = self._call("load_model", folder)
        if words is None:
            answer = Answer(LOADED)
        elif how := server.ended() or self._lost(words):
            answer = Answer(SILENT if "Deadline" in words and not server.ended() else ENDED, how)
            self.close()
            return answer
        else:
            told = _words(words, server.log_after(before))
            answer = Answer(REFUSED, told.replace(f"{server.folder}/", ""))
        for name in texts:
            self._call("unload_model", name)
            server.remove(name)
        return answer

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._client.close()
            self._server.stop()
            self._server = None

    def _running(self) -> EmbeddedServer:
        if self._server is None or self._server.ended():
            self.close()
            from tritonclient.grpc import InferenceServerClient

            self._server = server = EmbeddedServer(completes=True)
            self._client: Any = InferenceServerClient(server.grpc)
            self.starts += 1
            self._library = server.folder / "libtriton_standin.so"
            compile_library("null_backend.c", "the stand-in for the models' backends", self._library)
            for name in KNOWN:
                self._stand_in(server, name)
        return self._server

    def _stand_in(self, server: EmbeddedServer, name: str) -> None:
        """Put the empty backend where the server looks for the backend of this name."""
        folder = server.folder / "backends" / name
        library = folder / f"libtriton_{name}.so"
        if not (folder / "empty").exists() and not (self._python and name == "python"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            shutil.copy(self._library, library)
            (folder / "empty").touch()

    def _call(self, verb: str, name: str) -> str | None:
        """Load or unload a model; return None, or the words of the refusal."""
        try:
            getattr(self._client, verb)(name, client_timeout=PATIENCE_S)
        except Exception as error:
            return str(error)
        return None

    def _lost(self, words: str) -> str:
        """Return how the server was lost: it may take a moment to end; an empty string if it answers."""
        if "Deadline" in words:
            return f"no answer within {PATIENCE_S:g} s"
        deadline = time.monotonic() + PATIENCE_S
        while _GONE.search(words) and time.monotonic() < deadline:
            if self._server is not None and (how := self._server.ended()):
                return how
            time.sleep(0.05)
        return words if _GONE.search(words) else ""


def _words(words: str, log: str) -> str:
    """Return the server's own words for a refusal: the load API leaves out why a configuration was not even read."""
    words = re.sub(r"^\[StatusCode\.\w+\] ", "", words)
    if "failed to poll" in words and (polled := _POLL.search(log)):
        parsed = _PARSER.findall(log)
        return parsed[-1] if parsed and "failed to read text proto" in polled[1] else polled[1]
    if "metadata size exceeds" in words and (logged := _FAILED.search(log)):
        words = logged[1]  # too long for gRPC
    state = _STATE.search(words)
    return re.sub(r";?\s*$", "", state[1] if state else words)
