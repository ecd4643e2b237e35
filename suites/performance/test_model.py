"""A real torch model through the target's own batcher: the same outputs in a batch as alone, and the gain of batching."""

from dataclasses import replace

import pytest

from batchproof.fixtures.driving.script import MS
from batchproof.fixtures.evidence.outputs import Outputs
from batchproof.load.runs import closed_loop
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import Unsupported

CONFIG = BatcherConfig(max_batch_size=8, max_queue_delay_ns=20 * MS)
PIXELS = 64


@pytest.mark.rule("PERF-MODEL-001")
@pytest.mark.imports("torch")
def test_outputs_unchanged(session, judge):
    """A torch model gives the same outputs in a batch as alone, within floating-point tolerance"""
    if not session.target.serves_torch:
        raise Unsupported("torch")
    import torch

    from batchproof.load.resnet import resnet50

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, batches = resnet50().to(device), []
    images = torch.rand(8, 3, PIXELS, PIXELS, generator=torch.Generator().manual_seed(session.attempt.seed))

    def on_worker(_module, inputs):
        torch.set_num_threads(1)  # counts only on the thread that runs the model: OpenMP threads fight over few cores
        batches.append(len(inputs[0]))

    hook = model.register_forward_pre_hook(on_worker)
    deployment = session.target.serve(model, CONFIG)
    clock, wait_ns = deployment.clock, session.patience.wait_ns
    tf32, torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.allow_tf32, False  # a GPU would compute with ten bits
    try:
        alone = [_settled(clock, wait_ns, deployment.submit(image)) for image in images.split(1)]
        sent = [deployment.submit(image) for image in images.split(1)]
        together = [_settled(clock, wait_ns, future) for future in sent]
    finally:
        torch.backends.cudnn.allow_tf32 = tf32
        deployment.close()
    if not session.target.simulated:
        session.measures = _throughput(session, model, images[:1], device)
    hook.remove()

    judge(Outputs("a classifier of ResNet-50's shape", tuple(alone), tuple(together), tuple(batches)))


def _settled(clock, wait_ns, future):
    clock.wait(future.done, clock.now_ns() + wait_ns)
    return tuple(future.result(timeout=0).flatten().tolist())


def _throughput(session, model, image, device):
    """Naive and batched in turn, without a queue delay. It is not a rule, because the gain depends on the processor."""
    deployment = session.target.serve(model, replace(CONFIG, max_queue_delay_ns=0))
    clock, wait_ns = deployment.clock, session.patience.wait_ns

    def load(clients, requests):
        return closed_loop(lambda _number: deployment.submit(image), clock, clients, requests=requests, wait_ns=wait_ns)

    pairs = [(load(1, 4), load(16, 16)) for _ in range(2)]
    deployment.close()
    naive, batched = (max(one.throughput for one in side) for side in zip(*pairs, strict=True))
    return {
        "model": f"ResNet-50 shape, {PIXELS}x{PIXELS}, {device}",
        "naive_qps": round(naive, 1),
        "batched_qps": round(batched, 1),
        "batched_over_naive": round(batched / naive, 2),
    }
