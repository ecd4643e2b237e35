"""What guidellm says, and how it is run."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from batchproof.load.second_opinion.guidellm import found, measure, read
from batchproof.load.second_opinion.opinion import ToolFailed, ToolMissing

REPORT: dict[str, Any] = {  # as 0.8.1 writes it, without what is not read
    "benchmarks": [
        {
            "metrics": {
                "request_totals": {"successful": 132, "errored": 0, "incomplete": 2, "total": 134},
                "requests_per_second": {"successful": {"mean": 16.25}},
                "output_tokens_per_second": {"successful": {"mean": 395.75}},
                "time_to_first_token_ms": {"successful": {"mean": 63.7, "percentiles": {"p50": 25.5}}},
                "inter_token_latency_ms": {"successful": {"mean": 7.04}},
            }
        }
    ]
}
PROGRAM = f"""#!{sys.executable}
import json, sys
given = dict(one.split("=", 1) for one in sys.argv if one.startswith("kind=json,") for one in one.split(","))
asked = next(one for one in sys.argv if one.startswith("kind=json_file")).split("path=")[1]
print(len(open(asked).readlines()), "prompts")
%s
"""


def program(folder: Path, end: str) -> str:
    """A program in the place of guidellm."""
    path = folder / "guidellm"
    path.write_text(PROGRAM % end, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def measured(path: str) -> Any:
    """Run it."""
    return measure(path, "http://127.0.0.1:1", "m", "", ["a b", "c d"], 3, 2, 0.1)


def test_its_report_is_read() -> None:
    """In our units; what failed is a reason against it."""
    assert vars(read(REPORT)) == {
        "tool": "guidellm", "tokens_per_s": 395.75, "requests_per_s": 16.25, "ttft_p50_ns": 25_500_000,
        "itl_mean_ns": 7_040_000, "requests": 132, "reasons": (),
    }  # fmt: skip
    REPORT["benchmarks"][0]["metrics"]["request_totals"] = {"successful": 1, "errored": 3, "total": 4}
    assert read(REPORT).reasons == ("guidellm: 3 of 4 requests failed",)


def test_it_is_run_with_our_prompts(tmp_path: Path) -> None:
    """And its report is read from where it was told to leave it."""
    path = program(tmp_path, f"open(given['path'], 'w').write({json.dumps(json.dumps(REPORT))})")

    assert measured(path).tokens_per_s == 395.75


@pytest.mark.parametrize(
    ("end", "says"),
    [("sys.exit(3)", "guidellm ended with 3; the end of what it printed:\n2 prompts"), ("", "guidellm left no result")],
)
def test_no_result_is_told(tmp_path: Path, end: str, says: str) -> None:
    """With the end of what it printed."""
    with pytest.raises(ToolFailed, match=says):
        measured(program(tmp_path, end))


def test_a_missing_program_is_told(tmp_path: Path) -> None:
    """And how to get it."""
    with pytest.raises(ToolMissing, match="pip install guidellm into an environment of its own"):
        found(str(tmp_path / "nothing"))
