"""A small server of the OpenAI API, in this process, that keeps it or breaks it in one way.

It says the witness's texts. Its faults are the names in `FAULTS`.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from batchproof.targets.witness.language import FIRST, continuation, digest

MODELS = ["served"]
FAULTS = (
    "garbage",  # a line that is no event
    "not JSON",
    "not a completion",
    "no last chunk",  # the connection ends in the middle
    "twice",  # two ends
    "after the end",  # a token after its end
    "short",  # one token less
    "fails",  # status 500
    "company",  # another text if there is company
    "no tokens",  # texts without token_ids and without logprobs
    "only texts",  # prompts of token IDs are refused
    "only logprobs",  # unknown fields are refused
    "as in chats",  # its logprobs have another form, and it has no token_ids
    "only one",  # n is refused
    "hangs",
    "hangs up",  # it closes the connection without an answer
    "only chats",  # there is no /v1/completions
    "moved",  # its models are elsewhere
)


class Server(ThreadingHTTPServer):
    """Listens on a free port until it is closed."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, fault="", key="", models=MODELS, pace_s=0.0, longest=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault, self.key, self.models, self.pace_s, self.longest = fault, key, models, pace_s, longest
        self.served, self.left, self.inside, self.lock = [], 0, 0, threading.Lock()
        self.released = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def handle_error(self, request, client_address):
        """Clients go away."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.released.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        if self._allowed():
            if self.path != "/v1/models":
                self._answer(404, {"error": "no such path"})
            elif self.server.fault == "no list":
                self._answer(200, {"hello": "world"})
            elif self.server.fault == "no models":  # it fails behind the headers
                self.send_response(200)
                self.end_headers()
                self.close_connection = True
            elif self.server.fault == "moved":
                self.send_response(307)
                self.send_header("Location", "/login")
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                says = {"max_model_len": self.server.longest} if self.server.longest else {}
                self._answer(200, {"data": [{"id": name, **says} for name in self.server.models]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._allowed():
            return
        with self.server.lock:
            self.server.served.append(asked)
            self.server.inside += 1
        try:
            if self.server.fault == "only chats":
                self._answer(404, {"detail": "Not Found"})
            elif self.server.fault != "hangs up":
                self._complete(asked, self.server.fault)
        except OSError:
            self.server.left += 1
        finally:
            with self.server.lock:
                self.server.inside -= 1

    def _complete(self, asked, fault):
        prompt = asked["prompt"]
        if isinstance(prompt, str):
            prompt = [FIRST + ord(letter) for letter in prompt]
        elif fault == "only texts":
            return self._answer(400, {"error": "prompts are texts"})
        if fault == "only logprobs" and {"ignore_eos", "return_token_ids"} & set(asked):
            return self._answer(422, {"error": "extra fields are not permitted"})
        if (fault == "only one" and asked.get("n", 1) > 1) or not prompt or not asked["max_tokens"]:
            return self._answer(400, {"error": "this cannot be"})
        probe = asked["max_tokens"] == 2
        if fault == "fails" and not probe:
            return self._answer(500, {"error": f"out of order, {self.headers.get('Authorization')}"})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if fault == "hangs":
            self.server.released.wait()
        for sample in range(asked.get("n", 1)):
            self._stream(asked, tuple(prompt), sample, "" if probe else fault)
        self.wfile.write(b"data: [DONE]\n\n")
        return None

    def _stream(self, asked, prompt, sample, fault):
        text = continuation(prompt, asked["max_tokens"] - (fault == "short"))
        for place, token in enumerate(text):
            time.sleep(self.server.pace_s)
            if fault == "company" and self.server.inside > 1 and place:
                token = FIRST + digest((token,)) % 100  # noqa: PLW2901
            last = place == len(text) - 1
            if fault == "no last chunk" and last:
                self.connection.close()
                raise OSError
            self._event(asked, sample, token, "length" if last else None)
            if place == 1 and fault in ("garbage", "not JSON", "not a completion"):
                lines = {"garbage": b"what?\n\n", "not JSON": b"data: {...\n\n", "not a completion": b'data: {"a": 1}\n\n'}
                self.wfile.write(lines[fault])
        if fault == "twice":
            self._event(asked, sample, None, "stop")
        if fault == "after the end":
            time.sleep(0.1)
            self._event(asked, sample, FIRST, None)

    def _event(self, asked, sample, token, reason):
        tokens = [] if token is None else [token]
        choice = {"index": sample, "text": "".join(f"<{one}>" for one in tokens), "finish_reason": reason, "logprobs": None}
        if asked.get("return_token_ids") and self.server.fault not in ("no tokens", "only texts", "as in chats"):
            choice["token_ids"] = tokens
        if asked.get("logprobs") and self.server.fault != "no tokens":
            said = [f"<{one}>" for one in tokens]
            content = {"content": [{"token": one} for one in said]}
            choice["logprobs"] = content if self.server.fault == "as in chats" else {"tokens": said}
        self.wfile.write(f"data: {json.dumps({'object': 'text_completion', 'choices': [choice]})}\n\n".encode())
        self.wfile.flush()

    def _allowed(self):
        if self.server.key and self.headers.get("Authorization") != f"Bearer {self.server.key}":
            self._answer(401, {"error": f"who is {self.headers.get('Authorization')}?"})
            return False
        return True

    def _answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
