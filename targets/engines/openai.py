"""A server that is already running, through the completions of the OpenAI API: `--target openai:http://host:port`.

Nothing about it is configured, and its model is not known: it is judged by what a client sees. See docs/continuous.md.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets.deadlines import more_time, timeout_s
from batchproof.targets.engines import EngineGone, Generation, Output
from batchproof.targets.engines.completions import Address, Chunk, Stream, waiting
from batchproof.targets.kit.bounded import BoundedConnection, BoundedSecureConnection, Endless
from batchproof.targets.protocol import Misuse, TargetError, TargetInfo, UnknownTarget, Unsupported
from batchproof.targets.witness.languages import language_named

KEY = "BATCHPROOF_OPENAI_KEY"
CLAIMS = {"text": "unknown", "block_size": 16, "streaming": True, "cancel": True, "max_model_len": False}
PREFIX = "openai:"
MODELS = "/v1/models"
OPTIONS = {"model", "longest"}
FORM = "openai:http://host:port"
WAIT_S = 0.02  # the longest wait for something new in a step
LEAVES_S = 5.0  # the longest wait for a thread whose connection was closed
ENOUGH = 2  # tokens of a probe
WORDS = tuple(f"{a}{b}" for a in "bcdfghklmnprstvw" for b in "aeiou")
EXTRAS: tuple[dict[str, Any], ...] = (  # from the most informative to the most common
    {"ignore_eos": True, "return_token_ids": True},
    {"ignore_eos": True, "logprobs": 1},
    {"logprobs": 1},
)


def words(tokens: tuple[int, ...]) -> str:
    """Return a text that stands for a prompt, where the server takes texts only."""
    return " ".join(WORDS[one % len(WORDS)] + WORDS[one // len(WORDS) % len(WORDS)] for one in tokens)


def parsed(spec: str) -> tuple[Address, Mapping[str, str]]:
    """Return where a server is, and the options that are given for it; UnknownTarget if that is not an address.

    model: the name of the model that is asked for. longest: the longest prompt with its text that it takes, in tokens.
    """
    parts = urlsplit(spec.removeprefix(PREFIX))
    if parts.username or parts.password:
        raise UnknownTarget(f"--target openai:...: do not put a password into the address; set {KEY} to the server's key")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError as error:
        raise UnknownTarget(f"--target {spec}: {error}: write {FORM}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UnknownTarget(f"--target {spec} is not the address of a server: write {FORM}")
    if unknown := sorted(set(options) - OPTIONS):
        choices = ", ".join(sorted(OPTIONS))
        raise UnknownTarget(f"--target {spec}: unknown option {', '.join(unknown)}: choose from {choices}")
    if not (options.get("longest") or "1").isdecimal():
        raise UnknownTarget(f"--target {spec}: longest={options['longest']} is not a number of tokens")
    path = parts.path.rstrip("/").removesuffix("/v1")
    secure = parts.scheme == "https"
    connection = BoundedSecureConnection if secure else BoundedConnection
    return Address(parts.hostname, port, path, secure, os.environ.get(KEY, ""), connection), options


class OpenAITarget:
    """A running server. A few short requests find out its model's name, and how its tokens can be counted."""

    def __init__(self, spec: str) -> None:
        self.address, options = parsed(spec)
        self.model, says = self._model(options.get("model", ""))
        self.longest = int(options.get("longest") or says)
        self.as_ids, self.extra = self._manner()
        samples = self._probed(self.as_ids, {**self.extra, "n": 2})
        claims = {**CLAIMS, "samples": {one.sample for one in samples if one.end in ("length", "stop")} == {0, 1}}
        self.info = TargetInfo("openai", self.model, spec, sight="wire", claims=claims, discipline="continuous")

    def engine(self, config: EngineConfig) -> OpenAIEngine:
        """Return a client. The server cannot be configured: what is longer than it takes is not sent."""
        if config.policy != "fcfs":
            raise Unsupported("request_priorities")
        if 0 < self.longest < config.max_model_len:
            raise Unsupported(f"texts of more than {self.longest} tokens, with their prompts")
        return OpenAIEngine(self)

    def deploy(self, config: Any) -> Any:  # noqa: ARG002 - as the protocol has it
        """Raise Unsupported: an engine has no dynamic batcher."""
        raise Unsupported("dynamic batching")

    def alive(self) -> str:
        """Return why it can no longer be judged; an empty string if it can."""
        try:
            self._got(MODELS)
        except TargetError as error:
            return str(error)
        return ""

    def body(self, request: Generation, *, as_ids: bool, extra: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a request."""
        samples = {"n": request.samples} if request.samples > 1 else {}
        given = list(request.prompt) if as_ids else words(request.prompt)
        usual = {"model": self.model, "prompt": given, "max_tokens": request.max_tokens, "temperature": 0, "stream": True}
        return {**usual, **samples, **extra}

    # ------------------------------------------------------------------------------------- what kind of server it is

    def _model(self, asked: str) -> tuple[str, int]:
        """Return the model's name, and the longest text that the server says it takes, as vLLM's does; 0 if it does not."""
        found = self._got(MODELS)
        try:
            longest = {one["id"]: one.get("max_model_len") for one in found["data"]}
            names = list(longest)
            if not all(isinstance(one, str) for one in names):
                raise TypeError
        except (AttributeError, KeyError, TypeError):
            raise TargetError(f"{self.address.base} is not a server of the OpenAI API: its /v1/models has no list") from None
        if asked in names or (not asked and len(names) == 1):
            name = asked or names[0]
            return name, longest[name] if type(longest[name]) is int else 0
        if not names:
            raise TargetError(f"{self.address.base} has no model: load one first")
        there = f"{self.address.base} has {', '.join(names)}"
        if asked:
            raise Misuse(f"{there}: there is no model '{asked}'")
        raise Misuse(f"{there}: choose one with --target '{PREFIX}{self.address.base}?model=NAME'")

    def _manner(self) -> tuple[bool, Mapping[str, Any]]:
        """Return whether prompts may be token IDs, and the options that make tokens countable."""
        said = ""
        for as_ids in (True, False):
            for extra in EXTRAS:
                found = self._probed(as_ids, extra)
                if sum(len(one.tokens) for one in found) and any(one.end in ("length", "stop") for one in found):
                    return as_ids, extra
                said = next((one.text for one in found if one.text), "") or said
        why = said or "its streams have no tokens or no end"
        raise TargetError(f"{self.address.base} cannot be judged by /v1/completions: {why}")

    def _probed(self, as_ids: bool, extra: Mapping[str, Any]) -> list[Output]:
        """Return the output of a short request."""
        found: queue.Queue[Chunk] = queue.Queue()
        request = Generation("probe", 1, language_named("unknown").prompt(1, 8), ENOUGH)
        try:
            body = self.body(request, as_ids=as_ids, extra=extra)
            stream = Stream(self.address, "probe", body, found, timeout_s("CONNECT_S"), timeout_s("CALL_S"))
        except OSError as error:
            raise TargetError(f"{self.address.base} cannot be reached: {error}") from None
        stream.start()
        stream.join(timeout_s("CALL_S"))
        if stream.is_alive():
            stream.leave()
            late = f"takes more than {timeout_s('CALL_S'):g} s for {ENOUGH} tokens"
            raise TargetError(f"{self.address.base} {late}: {more_time('CALL_S')}")
        self._refuse(stream.status, "/v1/completions")
        if not stream.status:
            raise TargetError(f"{self.address.base} closes the connection of a completion without an answer")
        return [Output(*chunk) for chunk in waiting(found)]

    def _got(self, path: str) -> Any:
        """Return the JSON of an answer; TargetError says what is wrong with the server or the key."""
        try:
            with contextlib.closing(self.address.asked("GET", path, seconds=timeout_s("CONNECT_S"))) as line:
                answer = line.getresponse()
                text = answer.read().decode("utf-8", "replace")
        except Endless as error:
            what = f"{self.address.base} does not answer {path} as a server of the OpenAI API does"
            raise TargetError(f"{what}: {error}; if it is one, {more_time('CONNECT_S')}") from None
        except (OSError, http.client.HTTPException) as error:
            why = str(error) or type(error).__name__
            raise TargetError(f"{self.address.base} cannot be reached: {why}: is the server running there?") from None
        self._refuse(answer.status, path)
        if place := answer.getheader("Location"):
            raise TargetError(f"{self.address.base}{path} is elsewhere: it is answered with {answer.status} and '{place}'")
        if answer.status != http.client.OK:
            raise TargetError(f"{self.address.base}{path} is answered with {answer.status}: {self.address.clean(text)}")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            what = self.address.clean(text) or "nothing"
            raise TargetError(f"{self.address.base} is not a server of the OpenAI API: {path} says {what}") from None

    def _refuse(self, status: int, path: str) -> None:
        """Raise TargetError for a status that says that the key or the address is wrong."""
        if status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
            how = f"it does not accept the key in {KEY}" if self.address.key else f"it needs a key: set {KEY}"
            raise TargetError(f"{self.address.base}{path} is answered with {status}: {how}")
        if status == http.client.NOT_FOUND and path != MODELS:
            why = "a server of chats only cannot be judged, because its template changes the prompts"
            raise TargetError(f"{self.address.base} has {MODELS} and no {path}: {why}")
        if status == http.client.NOT_FOUND:
            how = "name the address that comes before /v1"
            raise TargetError(f"{self.address.base} has no {path}, so it is not a server of the OpenAI API: {how}")


class OpenAIEngine:
    """A client of the server, with a connection for each request. The server iterates by itself."""

    def __init__(self, target: OpenAITarget) -> None:
        self._target = target
        self._found: queue.Queue[Chunk] = queue.Queue()
        self._streams: list[Stream] = []

    def submit(self, request: Generation) -> None:
        """Send a request; EngineGone if the server is gone."""
        target = self._target
        body = target.body(request, as_ids=target.as_ids, extra=target.extra)
        try:
            stream = Stream(target.address, request.name, body, self._found, timeout_s("CONNECT_S"))
        except OSError as error:
            raise EngineGone(f"{target.address.base} cannot be reached any more: {error}") from None
        self._streams.append(stream)
        stream.start()

    def step(self) -> tuple[list[Output], bool]:
        """Wait for a short time for something new, and return everything that has come out."""
        open_ = [one for one in self._streams if not one.over]  # read before the queue, so that all their output is in it
        outputs = [Output(*chunk) for chunk in waiting(self._found, WAIT_S if open_ else 0.0)]
        self._streams = open_
        return outputs, bool(open_)

    def abort(self, name: str) -> None:
        """Close the request's connections: the API has no other way to abort a request."""
        for one in self._streams:
            if one.request == name and not one.over:
                one.leave()
                one.join(LEAVES_S)
                if one.ended:
                    continue
                self._found.put(Chunk(name, end="abort", text="its client has closed the connection"))

    def log(self) -> list[dict[str, Any]]:
        """Return nothing: there is no witness in the server."""
        return []

    def gauges(self) -> dict[str, float]:
        """Return nothing: the API has no gauges."""
        return {}

    def close(self) -> None:
        """Close every connection."""
        for one in self._streams:
            one.leave()
        until_s = time.monotonic() + 1.0
        for one in self._streams:
            one.join(max(0.0, until_s - time.monotonic()))
