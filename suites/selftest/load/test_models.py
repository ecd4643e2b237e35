"""The torch models under load keep to the number of threads that they are given."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest


@pytest.mark.parametrize("name", ["mlp", "text"])
def test_torch_models_keep_to_one_thread(name: str) -> None:
    """The threads are limited where the model runs, the caller's are not, and a batch gives what single rows give."""
    torch = pytest.importorskip("torch")
    from batchproof.load.models import bound_to, build

    module, inputs = build(name)
    model, before = bound_to(module, 1), torch.get_num_threads()
    with ThreadPoolExecutor(1) as pool, torch.no_grad():
        together = pool.submit(model, inputs(4)).result()
        alone = torch.cat([pool.submit(model, row).result() for row in inputs(4).split(1)])

    assert model.seen == {1}
    assert torch.get_num_threads() == before
    assert together.shape == (4, 16)
    assert torch.allclose(together, alone, atol=1e-5)
