"""BentoML: is a burst refused that the service could easily serve in time?

A batch takes 100 ms whatever its size, up to 100 requests fit into one, and max_latency_ms is 2000. First 20 single requests
teach the dispatcher; then 50 come at once, which one batch could answer 0.1 s later.
Run it in an environment with `bentoml==1.4.39`: `python bentoml_shed.py`.
"""

import asyncio
from collections import Counter

from bentoml._internal.marshal.dispatcher import CorkDispatcher

sizes: list[int] = []


async def model(batch: tuple[int, ...]) -> tuple[int, ...]:
    sizes.append(len(batch))
    await asyncio.sleep(0.1)
    return batch


async def main() -> None:
    dispatcher = CorkDispatcher(2000, 100, fallback=lambda: "503", get_batch_size=lambda _: 1)
    infer = dispatcher(model)
    for number in range(20):
        await infer(number)
    print(f"it has learnt that n requests take {dispatcher.optimizer.o_a:.3f} n + {dispatcher.optimizer.o_b:.3f} s")
    sizes.clear()
    answers = await asyncio.gather(*(infer(number) for number in range(50)))
    print("50 at once:", dict(Counter("503" if answer == "503" else "answered" for answer in answers)), "batches of", sizes)


asyncio.run(main())
