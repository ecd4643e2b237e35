"""MLServer: does a batch take in requests that come while the model is busy?

max_batch_size is 8, max_batch_time is 0.05, and the first request keeps the model for 1 s, as a busy worker does.
Eight more come meanwhile, one every 80 ms. Run it in an environment with `mlserver==1.7.1` and `uvloop<0.22`.
"""

import asyncio

from mlserver import MLModel, ModelSettings, types
from mlserver.batching import load_batching
from mlserver.context import model_context

BATCHES, ONE_AT_A_TIME = [], asyncio.Lock()


class Model(MLModel):
    async def predict(self, payload: types.InferenceRequest) -> types.InferenceResponse:
        numbers = list(payload.inputs[0].data.root)
        async with ONE_AT_A_TIME:  # a worker of MLServer runs one batch at a time
            BATCHES.append(numbers)
            await asyncio.sleep(1.0 if 0 in numbers else 0.0)
        output = types.ResponseOutput(name="y", shape=[len(numbers), 1], datatype="INT64", data=numbers)
        return types.InferenceResponse(model_name="m", outputs=[output])


async def main() -> None:
    model = await load_batching(Model(ModelSettings(name="m", implementation=Model, max_batch_size=8, max_batch_time=0.05)))
    requests = []
    for number in range(9):
        given = types.RequestInput(name="x", shape=[1, 1], datatype="INT64", data=[number])
        with model_context(model.settings):
            requests.append(asyncio.create_task(model.predict(types.InferenceRequest(inputs=[given]))))
        await asyncio.sleep(0.08)
    await asyncio.gather(*requests)
    print("the batches, in order:", BATCHES)


asyncio.run(main())
