"""MLServer: one client of four goes away while their batch runs. What becomes of the other three?

Over gRPC, a client that goes away cancels its call, and grpc.aio cancels the handler that awaits `predict`, as this does.
Run it in an environment with `mlserver==1.7.1` and `uvloop<0.22`: `python mlserver_cancel.py`.
"""

import asyncio

from mlserver import MLModel, ModelSettings, types
from mlserver.batching import load_batching
from mlserver.context import model_context


class Model(MLModel):
    async def predict(self, payload: types.InferenceRequest) -> types.InferenceResponse:
        await asyncio.sleep(0.2)
        output = types.ResponseOutput(name="y", shape=payload.inputs[0].shape, datatype="INT64", data=payload.inputs[0].data)
        return types.InferenceResponse(model_name="m", outputs=[output])


async def main() -> None:
    asyncio.get_running_loop().set_exception_handler(lambda _, context: print("loop:", repr(context["exception"])))
    model = await load_batching(Model(ModelSettings(name="m", implementation=Model, max_batch_size=4, max_batch_time=0.1)))
    requests = []
    for number in range(4):
        given = types.RequestInput(name="x", shape=[1, 1], datatype="INT64", data=[number])
        with model_context(model.settings):
            requests.append(asyncio.create_task(model.predict(types.InferenceRequest(inputs=[given]))))
    await asyncio.sleep(0.1)
    requests[1].cancel()
    await asyncio.wait(requests, timeout=3)
    for number, request in enumerate(requests):
        what = "no answer after 3 s" if not request.done() else "cancelled" if request.cancelled() else "?"
        what = what if what != "?" else repr(request.exception() or "answered")
        print(f"request {number}: {what}")


asyncio.run(main())
