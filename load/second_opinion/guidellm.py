"""guidellm as a second opinion: https://github.com/vllm-project/guidellm, with which people measure LLM servers.

It runs in an environment of its own, because it needs torch and transformers. Its time between tokens is a mean for each
request, so that only the mean over all tokens says the same as ours. It counts from the moment at which it sends.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.host.scratch import scratch
from batchproof.load.second_opinion.opinion import ToolFailed, ToolMissing, end, guarded, tail

NAME = "guidellm"
START_S = 240.0  # until its processes are up, on a busy machine, and until it has summed up


@dataclass(frozen=True)
class TextOpinion:
    """What a generator of load says about a server of texts. itl_ns: the mean over all tokens; ttft_p50_ns: the median."""

    tool: str
    tokens_per_s: float
    requests_per_s: float
    ttft_p50_ns: int
    itl_mean_ns: int
    requests: int
    reasons: tuple[str, ...] = ()


def found(program: str = "") -> str:
    """Return the program; ToolMissing says how to get it."""
    path = shutil.which(program or NAME)
    if path is None:
        where = f"there is no program {program}" if program else "guidellm is not on the PATH"
        how = "pip install guidellm into an environment of its own, and give --guidellm ITS/bin/guidellm"
        raise ToolMissing(f"{where}: {how}")
    return path


def measure(
    program: str, base: str, model: str, tokenizer: str, prompts: Sequence[str], tokens: int, clients: int, seconds: float
) -> TextOpinion:
    """Keep so many clients busy for so long with these prompts, each for so many tokens; ToolFailed with what it printed."""
    with tempfile.TemporaryDirectory(prefix=scratch()) as folder:
        asked, result = Path(folder) / "asked.jsonl", Path(folder) / "result.json"
        lines = (json.dumps({"prompt": prompt, "output_tokens_count": tokens}) for prompt in prompts)
        asked.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [
            "run", "--backend", f"kind=openai_http,target={base},request_format=/v1/completions,model={model}",
            "--tokenizer", f"kind=huggingface_auto,model={tokenizer or model}",
            "--profile", f"kind=concurrent,streams={clients}", "--constraint", f"kind=max_duration,seconds={seconds:g}",
            "--data", f"kind=json_file,path={asked}", "--output", f"kind=json,path={result}",
            "--disable-console", "--disable-console-interactive",
        ]  # fmt: skip
        said = _run(guarded(program, *command), seconds + START_S)
        try:
            return read(json.loads(result.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise ToolFailed(f"guidellm left no result ({error}); the end of what it printed:\n{tail(said)}") from None


def read(report: Any) -> TextOpinion:
    """Return what a report of guidellm says; KeyError, IndexError or TypeError if it is not one."""
    (one,) = report["benchmarks"]
    metrics = one["metrics"]
    totals = metrics["request_totals"]

    def whole(name: str) -> Any:
        return metrics[name]["successful"]

    failed = int(totals["errored"])
    return TextOpinion(
        NAME,
        float(whole("output_tokens_per_second")["mean"]),
        float(whole("requests_per_second")["mean"]),
        round(whole("time_to_first_token_ms")["percentiles"]["p50"] * 1e6),
        round(whole("inter_token_latency_ms")["mean"] * 1e6),
        int(totals["successful"]),
        (f"guidellm: {failed} of {totals['total']} requests failed",) if failed else (),
    )


def _run(command: Sequence[str], limit_s: float) -> str:
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, stdin=null, text=True)
    try:
        said, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"guidellm took more than {limit_s:.0f} s") from None
    finally:
        end(process)
    if process.returncode:
        raise ToolFailed(f"guidellm ended with {process.returncode}; the end of what it printed:\n{tail(said)}")
    return said
