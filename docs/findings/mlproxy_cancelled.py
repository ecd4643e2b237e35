"""Shows what becomes of a batch in mlproxy-py if one of its requests is cancelled (docs/findings.md).

pip install mlproxy-py==0.1.1 && python mlproxy_cancelled.py
"""

import asyncio
import logging

import httpx
import mlproxy_py.proxy
from mlproxy_py.app import create_app
from mlproxy_py.config import BatchingConfig, ModelPoolConfig
from mlproxy_py.router import ModelRouter


async def backend(_: httpx.Request) -> httpx.Response:
    """Answer as a model that takes 0.3 s."""
    await asyncio.sleep(0.3)
    return httpx.Response(200, json={"results": ["a", "b", "c", "d"]})


async def main() -> None:
    """Send four requests, which make one batch, and cancel the second."""
    logging.disable()
    network = httpx.AsyncClient(transport=httpx.MockTransport(backend))
    mlproxy_py.proxy._get_client = lambda: network  # noqa: SLF001
    router = ModelRouter()
    router.register_model("m", ["http://backend"])
    app = create_app(router, {"m": ModelPoolConfig(batching=BatchingConfig(enabled=True, max_batch_size=4))}, False, "")
    async with app.router.lifespan_context(app):
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://proxy")
        calls = [asyncio.create_task(client.post("/infer/m", json={"text": str(i)})) for i in range(4)]
        await asyncio.sleep(0.1)
        calls[1].cancel()  # as a middleware with a timeout does
        await asyncio.wait(calls, timeout=3)
        said = ("cancelled" if one.cancelled() else one.result().text if one.done() else "no answer" for one in calls)
        print(", ".join(said))


asyncio.run(main())
