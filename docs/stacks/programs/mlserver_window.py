"""MLServer: does a batch wait for max_batch_time? Requests come every 100 ms, and the window is 500 ms.

Run it in an environment with `mlserver==1.7.1` and `uvloop<0.22`: `python mlserver_window.py`.
"""

import asyncio
import time

from mlserver import MLModel, ModelSettings, types
from mlserver.batching import load_batching
from mlserver.context import model_context

WINDOW_S, EVERY_S = 0.5, 0.1


class Model(MLModel):
    async def predict(self, payload: types.InferenceRequest) -> types.InferenceResponse:
        print(f"a batch of {payload.inputs[0].shape[0]} after {time.monotonic() - START:.2f} s")
        output = types.ResponseOutput(name="y", shape=payload.inputs[0].shape, datatype="INT64", data=payload.inputs[0].data)
        return types.InferenceResponse(model_name="m", outputs=[output])


async def main() -> None:
    global START
    model = await load_batching(
        Model(ModelSettings(name="m", implementation=Model, max_batch_size=100, max_batch_time=WINDOW_S))
    )
    START = time.monotonic()
    requests = []
    for number in range(5):
        given = types.RequestInput(name="x", shape=[1, 1], datatype="INT64", data=[number])
        with model_context(model.settings):
            requests.append(asyncio.create_task(model.predict(types.InferenceRequest(inputs=[given]))))
        await asyncio.sleep(EVERY_S)
    await asyncio.gather(*requests)
    print(f"five requests came every {EVERY_S} s from 0 s on: one batch of 5 after {WINDOW_S} s was due")


asyncio.run(main())
