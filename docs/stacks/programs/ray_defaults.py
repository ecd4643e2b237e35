"""Ray Serve: how large do batches get with nothing set? 40 requests at once, to `@serve.batch` without arguments.

Run it in an environment with `ray[serve]==2.60.0`: `python ray_defaults.py`.
"""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.request import urlopen

import ray
from ray import serve


class Model:
    @serve.batch
    async def run(self, requests: list) -> list[str]:
        await asyncio.sleep(0.5)
        return [str(len(requests))] * len(requests)

    async def __call__(self, request) -> str:
        return await self.run(request)


def main(title: str, **options: int) -> None:
    serve.run(serve.deployment(**options)(Model).bind(), name="m", route_prefix="/")
    with ThreadPoolExecutor(40) as callers:
        sizes = Counter(callers.map(lambda _: int(urlopen("http://127.0.0.1:8123/").read()), range(40)))
    print(f"{title}: the largest batch held {max(sizes)}, and {sum(sizes.values())} requests were answered")


if __name__ == "__main__":
    ray.init(include_dashboard=False, num_cpus=2, logging_level="ERROR", log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": 8123})
    main("nothing set")
    main("max_ongoing_requests=100", max_ongoing_requests=100)
