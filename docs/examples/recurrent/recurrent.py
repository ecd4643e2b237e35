"""Serves a recurrent torch model to several sequences at once, and compares their outputs with each sequence's alone.

    python recurrent.py reference        # the reference batcher: it keeps the state (implicit state)
    python recurrent.py triton           # the embedded Triton: the model keeps the states, by correlation ID

See docs/sequences.md.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import torch

HIDDEN, SLOTS = 8, 3
IDLE_S = 60  # a sequence that is idle for so long is over; the default is a second, which is short on a busy host
LENGTHS = {5: 4, 6: 9, 7: 2, 8: 6, 9: 3}  # of the sequences, by correlation ID
Step = Callable[[int, torch.Tensor, bool, bool], torch.Tensor]  # (ID, X, START, END) -> Y


class Recurrent(torch.nn.Module):
    """X [places, 1] and the state H [places, 8] -> Y [places, 1] and the next state."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.cell, self.out = torch.nn.GRUCell(1, HIDDEN), torch.nn.Linear(HIDDEN, 1)

    def forward(self, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Take one step of each sequence."""
        state = self.cell(inputs["X"], inputs["H"])
        return {"Y": self.out(state), "H_AFTER": state}


def inputs_of(sequence: int) -> torch.Tensor:
    """Return what a sequence sends: [steps, 1]."""
    return torch.sin(torch.arange(LENGTHS[sequence]) * 0.7 + sequence)[:, None]


def alone(sequence: int) -> torch.Tensor:
    """Return the outputs of a sequence that has the model to itself: [steps, 1]."""
    model, state, outputs = Recurrent(), torch.zeros(1, HIDDEN), []
    with torch.inference_mode():
        for x in inputs_of(sequence):
            answer = model({"X": x[None], "H": state})
            state = answer["H_AFTER"]
            outputs.append(answer["Y"][0])
    return torch.stack(outputs)


def together(step: Step) -> dict[int, torch.Tensor]:
    """Send all sequences at once, each from a thread of its own: the next step when the last one is answered."""
    outputs: dict[int, torch.Tensor] = {}

    def send(sequence: int) -> None:
        values = inputs_of(sequence)
        last = len(values) - 1
        answers = [step(sequence, x[None], number == 0, number == last) for number, x in enumerate(values)]
        outputs[sequence] = torch.cat(answers)

    threads = [threading.Thread(target=send, args=(sequence,)) for sequence in LENGTHS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outputs


def by_reference() -> tuple[dict[int, torch.Tensor], str]:
    """Serve it with the reference batcher."""
    from batchproof.reference_batcher import Batcher, BatcherConfig, SequenceBatching, StateSpec

    state = StateSpec("H", "H_AFTER", "TYPE_FP32", (HIDDEN,), initial=0)
    sequences = SequenceBatching(strategy="direct", state=(state,), max_sequence_idle_ns=IDLE_S * 10**9)
    with Batcher(Recurrent(), BatcherConfig(max_batch_size=SLOTS, sequence=sequences)) as batcher:

        def step(sequence: int, x: torch.Tensor, start: bool, end: bool) -> torch.Tensor:
            answer: torch.Tensor = batcher.submit({"X": x}, sequence=sequence, start=start, end=end).result()["Y"]
            return answer

        outputs = together(step)
        return outputs, f"{batcher.statistics()['execution_count']} batches"


CONFIG = """
name: "recurrent" backend: "python" max_batch_size: 3
input { name: "X" data_type: TYPE_FP32 dims: 1 }
output { name: "Y" data_type: TYPE_FP32 dims: 1 }
instance_group { kind: KIND_CPU count: 1 }
sequence_batching {
  max_sequence_idle_microseconds: 60000000
  direct { }
  control_input { name: "START" control { kind: CONTROL_SEQUENCE_START int32_false_true: [0, 1] } }
  control_input { name: "READY" control { kind: CONTROL_SEQUENCE_READY int32_false_true: [0, 1] } }
  control_input { name: "CORRID" control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } }
}
"""
MODEL = '''
import torch
import triton_python_backend_utils as triton
from recurrent import HIDDEN, Recurrent


class TritonPythonModel:
    """Triton's Python backend has no implicit state, so the model keeps the states itself, by correlation ID."""

    def initialize(self, args):
        self.model, self.states = Recurrent(), {}

    def execute(self, requests):
        tensors = {
            name: torch.cat([torch.from_numpy(triton.get_input_tensor_by_name(one, name).as_numpy().astype("float64"))
                             for one in requests])
            for name in ("X", "START", "READY", "CORRID")
        }
        ids = [int(one) for one in tensors["CORRID"].ravel()]
        for one, start in zip(ids, tensors["START"].ravel().tolist()):
            if start:
                self.states[one] = torch.zeros(HIDDEN)
        none = torch.zeros(HIDDEN)  # of a place without a request: READY is 0 there
        with torch.inference_mode():
            answer = self.model({"X": tensors["X"].float(), "H": torch.stack([self.states.get(one, none) for one in ids])})
        for one, ready, state in zip(ids, tensors["READY"].ravel().tolist(), answer["H_AFTER"]):
            if ready:
                self.states[one] = state
        return [triton.InferenceResponse([triton.Tensor("Y", one[None].numpy())]) for one in answer["Y"]]
'''


def by_triton() -> tuple[dict[int, torch.Tensor], str]:
    """Serve it with the embedded Triton."""
    import tritonclient.grpc as triton

    from batchproof.targets.triton.embedded import EmbeddedServer

    server = EmbeddedServer()
    try:
        own = Path(__file__).read_bytes()
        files = {"config.pbtxt": CONFIG.encode(), "1/model.py": MODEL.encode(), "1/recurrent.py": own}
        server.write({f"recurrent/{name}": content for name, content in files.items()})
        client = triton.InferenceServerClient(server.grpc)
        client.load_model("recurrent")

        def step(sequence: int, x: torch.Tensor, start: bool, end: bool) -> torch.Tensor:
            tensor = triton.InferInput("X", [1, 1], "FP32")
            tensor.set_data_from_numpy(x.numpy())
            flags = {"sequence_id": sequence, "sequence_start": start, "sequence_end": end}
            return torch.from_numpy(client.infer("recurrent", [tensor], **flags).as_numpy("Y").copy())

        outputs = together(step)
        counted = client.get_inference_statistics("recurrent").model_stats[0]
        return outputs, f"{counted.execution_count} batches"
    finally:
        server.stop()


def main(target: str) -> int:
    """Print how far the outputs are from those of each sequence alone; 1 if they differ."""
    outputs, batches = by_reference() if target == "reference" else by_triton()
    worst = max(float((outputs[one] - alone(one)).abs().max()) for one in LENGTHS)
    equal = worst < 1e-6  # a matrix product of another size may round the last digit in another way
    print(f"{target}: {len(LENGTHS)} sequences, {sum(LENGTHS.values())} steps in {batches}, ", end="")
    print("the outputs are those of each sequence alone" if equal else f"the outputs differ by up to {worst}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "reference"))
