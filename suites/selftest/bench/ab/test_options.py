"""The options of `ab`: what they mean, and one clear message for each that makes no sense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batchproof.bench.ab.options import AB_WORKS, AbOptions, Wanted, margin_of, specs
from batchproof.load.spread.ask import Wanted as Crewed
from batchproof.load.workload import WORKS
from batchproof.targets.protocol import Misuse

PBTXT = "max_batch_size: 12\ninstance_group [ { count: 2 } ]\ndynamic_batching { max_queue_delay_microseconds: 500 }\n"


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("5 %", 0.05), ("0.05", 0.05), ("2.5%", 0.025), ("0.5%", 0.005)])
def test_a_margin_is_a_percentage_or_a_share(text: str, share: float) -> None:
    """Both are common."""
    assert margin_of(text) == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5", "did you mean 5%?"),
        ("0", "more than 0"),
        ("-1%", "more than 0"),
        ("120%", "less than 100 %"),
        ("five", "write a percentage such as 5%"),
        ("nan", "more than 0"),
    ],
)
def test_any_other_margin_is_refused(text: str, said: str) -> None:
    """`5` could be 500 %, and nobody wants that."""
    with pytest.raises(Misuse, match=said.replace("?", r"\?")):
        margin_of(text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"work": "mnist"}, "--work mnist: choose from device, accelerator"),
        ({"load": 1.0}, "--load is a share"),
        ({"load": -0.1}, "--load is a share"),
        ({"seconds": 0.0}, "--seconds must be more than 0"),
        ({"margin": 1.5}, "--fail-if-slower is a share"),
        ({"setup": "make"}, "--setup goes with --base-rev or --new-rev"),
        ({"crew": Crewed(2)}, "--workers goes with --load"),
        ({"crew": Crewed(0, "127.0.0.1:1"), "load": 0.5}, "--workers-from needs --workers"),
    ],
)
def test_an_option_that_makes_no_sense_is_named(options: dict[str, Any], said: str) -> None:
    """Before anything is started."""
    with pytest.raises(Misuse, match=said):
        AbOptions(**options).checked()


def test_without_options_the_reference_is_compared_with_itself() -> None:
    """The default work is short, and all works of `bench` can be used too."""
    with specs(AbOptions()) as (found, commits):
        assert {name: one.target for name, one in found.items()} == {"base": "reference", "new": "reference"}
    assert commits == {"base": "", "new": ""}
    assert set(AB_WORKS) == {"device", *WORKS}


def test_one_target_named_is_both() -> None:
    """Either option will do."""
    for wanted in ({"base": Wanted("triton")}, {"new": Wanted("triton")}):
        with specs(AbOptions(**wanted)) as (found, _):
            assert {one.target for one in found.values()} == {"triton"}


def test_each_side_has_its_configuration(tmp_path: Path) -> None:
    """From a config.pbtxt."""
    file = tmp_path / "config.pbtxt"
    file.write_text(PBTXT, encoding="utf-8")
    with specs(AbOptions(new=Wanted("virtual", file))) as (found, _):
        assert found["base"].config is None
        assert found["new"].config == {
            "max_batch_size": 12, "max_queue_delay_ns": 500_000, "instances": 2, "queue_timeout_ns": 0,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"max_batch_size: twelve", "config.pbtxt: "),
        (b"max_batch_size: 4", "has no dynamic_batching"),
        (b"\xff\xfe\x00", "config.pbtxt: "),
        (b"#" * (1 << 20) + b"#", "larger than 1 MiB"),
        (None, "No such file"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_one_message(tmp_path: Path, content: bytes | None, said: str) -> None:
    """It names the option and the file."""
    file = tmp_path / "config.pbtxt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(Misuse, match=f"--new-config .*{said}"), specs(AbOptions(new=Wanted("virtual", file))):
        pass


def test_the_command_makes_the_same_comparison_again() -> None:
    """Only what was given stands in it."""
    options = AbOptions(Wanted("triton"), Wanted(config=Path("new.pbtxt"), revision="main"), 0.02, 30, 0.6, setup="make")

    assert options.command() == (
        "batchproof ab --base triton --new-config new.pbtxt --new-rev main --fail-if-slower 2% --seconds 30 --load 0.6 "
        "--setup make --seed 1729"
    )
