"""A real browser without a window, in which tests open the pages that we write."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_MS = 100_000  # a host with a load of 25 takes a minute for what an idle one does in two seconds
LOOK_MS = 20
NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a browser of Playwright; skip where there is neither its package nor a Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra `selftest` (playwright) is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def until(page: Any, condition: str) -> None:
    """Wait until an expression is true in a page; AssertionError if it never is.

    `wait_for_function` evaluates its text in the page, again and again. What the page allows its scripts forbids that, so it
    fails unless the condition holds at once.
    """
    deadline_s = time.monotonic() + PATIENCE_MS / 1000
    while not page.evaluate(condition):
        assert time.monotonic() < deadline_s, f"never true in the page: {condition}"
        page.wait_for_timeout(LOOK_MS)


class Browse:
    """Opens files as pages, and remembers what their consoles complained about and what they asked a network for."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def __call__(self, file: Path, *, width: int = 1280, scheme: str = "light", anchor: str = "") -> Any:
        """Return the page of Playwright that shows the file. anchor: the end of its URL, with the #."""
        context = self._browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self._contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(f"{file.resolve().as_uri()}{anchor}")
        return page

    def close(self) -> None:
        """Close every page."""
        for context in self._contexts:
            context.close()

    @property
    def network(self) -> list[str]:
        """What was asked of anything but files and the page itself."""
        return [url for url in self.requests if not url.startswith(("file:", "data:"))]
