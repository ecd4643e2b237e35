"""Ray Serve: a request is cancelled while it waits. Is it executed, and are its neighbours answered?

Run it in an environment with `ray[serve]==2.60.0`: `python ray_cancel.py`.
"""

import asyncio
import time

import ray
from ray import serve
from ray.serve.exceptions import RequestCancelledError


@serve.deployment(max_ongoing_requests=100, ray_actor_options={"num_cpus": 0})
class Model:
    @serve.batch(max_batch_size=4, batch_wait_timeout_s=0.3)
    async def run(self, numbers: list[int]) -> list[list[int]]:
        await asyncio.sleep(1.0 if 0 in numbers else 0.0)
        return [numbers] * len(numbers)

    async def __call__(self, number: int) -> list[int]:
        return await self.run(number)


ray.init(include_dashboard=False, num_cpus=2, logging_level="ERROR", log_to_driver=False)
handle = serve.run(Model.bind())
plug = handle.remote(0)
time.sleep(0.5)  # the plug is in the model
waiting = [handle.remote(number) for number in range(1, 6)]  # a full batch of four and a fifth request wait behind it
time.sleep(0.1)
waiting[1].cancel()
for number, answer in enumerate(waiting, 1):
    try:
        print(f"request {number} was in the batch {answer.result(timeout_s=10)}")
    except RequestCancelledError:
        print(f"request {number} was cancelled")
