"""The adapter for SGLang: what it claims, how its version is told, and what it says where SGLang is missing."""

from __future__ import annotations

import sys

import pytest

from batchproof import targets
from batchproof.targets.claims import problems
from batchproof.targets.engines.sglang import CLAIMS
from batchproof.targets.protocol import Misuse, TargetError


def test_the_claims_are_claims():
    """Each claim exists, and has a value that it can have."""
    assert problems(CLAIMS) == []


def test_an_interpreter_without_sglang_is_named_with_the_way_to_have_one():
    """Who asks for SGLang without having it reads how to name the interpreter that has it."""
    with pytest.raises(TargetError) as caught:
        targets.resolve(f"sglang?python={sys.executable}")

    assert f"{sys.executable} does not have sglang" in str(caught.value)
    assert "--target 'sglang?python=" in str(caught.value)


@pytest.mark.parametrize("given", ["-1", "nan", "inf", "much"])
def test_a_conservativeness_that_is_no_share_is_misuse(given):
    """It is refused before SGLang is looked for."""
    with pytest.raises(Misuse, match="conservativeness"):
        targets.resolve(f"sglang?conservativeness={given}")
