"""Triton Python backend: the witness as one of several models, versions, instance groups or steps of an ensemble.

It is in each version folder, next to `probe.py` and `place.py`.
"""

import json
import os
import tempfile

import triton_python_backend_utils as pb_utils
from place import Place
from probe import COLUMNS, Witness

ASKED = [COLUMNS.index(name) for name in ("hold", "work_ns", "row_work_ns", "fail", "short")]
STEP = COLUMNS.index("nonce")


class TritonPythonModel:
    """One instance of the witness. Where it runs stands in its answers and in its log in place of the instance.

    The parameter `step` is the model's place in an ensemble, from 1. A request whose `nonce` is another number from 1 asks
    nothing of this step: it is neither held here, nor does it take time, nor does it fail or come back short.
    """

    def initialize(self, args):
        """Open the log; Triton names an instance `model_GROUP_NUMBER`."""
        parameters = json.loads(args["model_config"])["parameters"]
        folder = os.path.join(tempfile.gettempdir(), parameters["witness"]["string_value"])
        self.step = int(parameters["step"]["string_value"])
        group, number = args["model_instance_name"].rsplit("_", 2)[1:]
        place = Place(int(args["model_version"]), os.getpid(), int(group), int(number))
        self.witness = Witness(folder, place.pack())

    def execute(self, requests):
        """Run one batch as Triton formed it."""
        tensors = [pb_utils.get_input_tensor_by_name(request, "IN").as_numpy() for request in requests]
        answers = self.witness.execute([self._own(tensor) for tensor in tensors])
        back = tensors[len(tensors) - len(answers) :]
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("OUT", tensor), pb_utils.Tensor("INFO", info)])
            for tensor, (_, info) in zip(back, answers)  # noqa: B905 - an old Python may run this
        ]

    def _own(self, tensor):
        """Return the tensor with only what it asks of this step."""
        if not self.step or int(tensor[0, STEP]) in (0, self.step):
            return tensor
        own = tensor.copy()
        own[:, ASKED] = 0
        return own
