"""MLServer: one malformed request comes while a batch runs. What becomes of the batch, and of a third client?

The data of one request is text where the other's is a list, so they cannot be merged into one tensor.
Run it in an environment with `mlserver==1.7.1` and `uvloop<0.22`: `python mlserver_poison.py`.
"""

import asyncio

from mlserver import MLModel, ModelSettings, types
from mlserver.batching import load_batching
from mlserver.context import model_context


class Model(MLModel):
    async def predict(self, payload: types.InferenceRequest) -> types.InferenceResponse:
        await asyncio.sleep(0.5)
        output = types.ResponseOutput(name="y", shape=payload.inputs[0].shape, datatype="INT64", data=payload.inputs[0].data)
        return types.InferenceResponse(model_name="m", outputs=[output])


async def main() -> None:
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    model = await load_batching(Model(ModelSettings(name="m", implementation=Model, max_batch_size=2, max_batch_time=0.1)))
    requests = {}
    for name, data in {"running 1": [1], "running 2": [2], "good": [3], "malformed": "text"}.items():
        given = types.RequestInput(name="x", shape=[1, 1], datatype="INT64", data=data)
        with model_context(model.settings):
            requests[name] = asyncio.create_task(model.predict(types.InferenceRequest(inputs=[given])))
        await asyncio.sleep(0.1 if name == "running 2" else 0)  # the first batch is in the model
    await asyncio.wait(requests.values(), timeout=3)
    for name, request in requests.items():
        print(f"{name}: {repr(request.exception() or 'answered') if request.done() else 'no answer after 3 s'}")


asyncio.run(main())
