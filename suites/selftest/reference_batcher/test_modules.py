"""Where the results of a torch module go, and what a batch of several inputs is moved to."""

from __future__ import annotations

import pytest

from batchproof.reference_batcher.modules import home, prepare, to

torch = pytest.importorskip("torch", reason="torch is not installed")


class Tensor:
    """Stands for a tensor on a device that this host need not have."""

    def __init__(self, device: str, *moves: tuple[str, bool]) -> None:
        self.device, self.moves = device, moves

    def to(self, device: str, *, non_blocking: bool = False) -> Tensor:
        """Return it on another device, with all of its moves."""
        return Tensor(device, *self.moves, (device, non_blocking))


@pytest.mark.parametrize(
    ("batch", "place"),
    [(Tensor("a"), "a"), ((Tensor("a"), Tensor("b")), "a"), ({"x": 1, "y": Tensor("b")}, "b"), ([1, 2], "cpu"), ({}, "cpu")],
)
def test_results_go_to_where_the_first_tensor_came_from(batch: object, place: str) -> None:
    """What is no tensor came from the host."""
    assert home(batch) == place


def test_every_tensor_of_a_batch_moves_and_nothing_else() -> None:
    """Nothing waits for inputs to arrive, but a result has to have arrived before it is handed on."""
    moved = to({"x": (Tensor("a"), 7)}, "b", non_blocking=True)
    assert [moved["x"][0].device, moved["x"][0].moves, moved["x"][1]] == ["b", (("b", True),), 7]
    assert to(moved["x"][0], "a").moves == (("b", True), ("a", False))


def test_a_module_on_another_device_gives_its_results_back() -> None:
    """The device `meta` computes shapes alone; its results are asked for from the host, which it cannot do."""
    module = torch.nn.Linear(2, 3, device="meta")
    with pytest.raises(NotImplementedError, match="meta"):
        prepare(module)(torch.zeros(4, 2))
    assert prepare(module)(torch.zeros(4, 2, device="meta")).shape == (4, 3)


def test_a_module_on_the_host_gives_its_results_as_they_are() -> None:
    """No copy is made."""
    result = torch.ones(1)
    module = torch.nn.Linear(1, 1)
    module.forward = lambda _: result
    assert prepare(module)(torch.zeros(1, 1)) is result
