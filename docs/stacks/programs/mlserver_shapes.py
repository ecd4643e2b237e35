"""MLServer: a request of a wrong shape comes alongside two good ones. What becomes of those?

The model's settings say that its input has three columns, and one request has two.
Run it in an environment with `mlserver==1.7.1` and `uvloop<0.22`: `python mlserver_shapes.py`.
"""

import asyncio

import numpy as np
from mlserver import MLModel, ModelSettings, types
from mlserver.batching import load_batching
from mlserver.context import model_context


class Model(MLModel):
    async def predict(self, payload: types.InferenceRequest) -> types.InferenceResponse:
        given = payload.inputs[0]
        rows = np.array(given.data.root).reshape(given.shape)
        output = types.ResponseOutput(name="y", shape=given.shape, datatype="INT64", data=rows.ravel().tolist())
        return types.InferenceResponse(model_name="m", outputs=[output])


async def main() -> None:
    columns = types.MetadataTensor(name="x", datatype="INT64", shape=[-1, 3])
    settings = ModelSettings(name="m", implementation=Model, inputs=[columns], max_batch_size=3, max_batch_time=0.1)
    model, requests = await load_batching(Model(settings)), {}
    for name, data in {"good 1": [1, 2, 3], "malformed": [4, 5], "good 2": [6, 7, 8]}.items():
        given = types.RequestInput(name="x", shape=[1, len(data)], datatype="INT64", data=data)
        with model_context(settings):
            requests[name] = asyncio.create_task(model.predict(types.InferenceRequest(inputs=[given])))
    await asyncio.wait(requests.values(), timeout=3)
    for name, request in requests.items():
        print(f"{name}: {repr(request.exception() or 'answered') if request.done() else 'no answer after 3 s'}")


asyncio.run(main())
