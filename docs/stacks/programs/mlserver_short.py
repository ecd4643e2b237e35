"""MLServer: who gets which result if the model returns one row too few?

Four requests are in a batch, and the model leaves out the row of the first one.
Run it in an environment with `mlserver==1.7.1` and `uvloop<0.22`: `python mlserver_short.py`.
"""

import asyncio

from mlserver import MLModel, ModelSettings, types
from mlserver.batching import load_batching
from mlserver.context import model_context


class Model(MLModel):
    async def predict(self, payload: types.InferenceRequest) -> types.InferenceResponse:
        rows = list(payload.inputs[0].data)[1:]
        output = types.ResponseOutput(name="y", shape=[len(rows), 1], datatype="INT64", data=rows)
        return types.InferenceResponse(model_name="m", outputs=[output])


async def main() -> None:
    model = await load_batching(Model(ModelSettings(name="m", implementation=Model, max_batch_size=4, max_batch_time=1)))
    requests = {}
    for name, data in {"Ann": 1, "Bob": 2, "Cid": 3, "Dee": 4}.items():
        given = types.RequestInput(name="x", shape=[1, 1], datatype="INT64", data=[data])
        with model_context(model.settings):
            requests[name] = asyncio.create_task(model.predict(types.InferenceRequest(inputs=[given])))
    await asyncio.wait(requests.values(), timeout=3)
    for place, (name, request) in enumerate(requests.items(), 1):
        if not request.done() or request.exception():
            print(f"{name} sends {place}: {repr(request.exception()) if request.done() else 'no answer after 3 s'}")
        else:
            print(f"{name} sends {place} and gets {list(request.result().outputs[0].data)}")


asyncio.run(main())
