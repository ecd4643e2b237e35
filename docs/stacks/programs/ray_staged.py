"""Ray Serve: does a batch take in requests that come while the model is busy?

max_batch_size is 8, batch_wait_timeout_s is 0.05, and the first request keeps the model for 1 s.
Eight more come meanwhile, one every 80 ms. Run it in an environment with `ray[serve]==2.60.0`: `python ray_staged.py`.
"""

import asyncio
import time

import ray
from ray import serve


@serve.deployment(max_ongoing_requests=100, ray_actor_options={"num_cpus": 0})
class Model:
    @serve.batch(max_batch_size=8, batch_wait_timeout_s=0.05)
    async def run(self, numbers: list[int]) -> list[tuple[list[int], float]]:
        entered = time.monotonic()
        await asyncio.sleep(1.0 if 0 in numbers else 0.0)
        return [(numbers, entered)] * len(numbers)

    async def __call__(self, number: int) -> tuple[list[int], float]:
        return await self.run(number)


ray.init(include_dashboard=False, num_cpus=2, logging_level="ERROR", log_to_driver=False)
handle = serve.run(Model.bind())
answers = [handle.remote(0)]
time.sleep(0.2)
for number in range(1, 9):
    answers.append(handle.remote(number))
    time.sleep(0.08)
batches: dict[float, list[int]] = {}
for answer in answers:
    numbers, entered = answer.result()
    batches[entered] = numbers
print("the batches, in order:", [batches[entered] for entered in sorted(batches)])
