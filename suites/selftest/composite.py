"""Runs the steps of a composite action as GitHub does: expressions resolved, each `run` in bash, each `uses` noted.

It knows the little of GitHub's expression language that an action here needs: the contexts, `||`, `&&`, `!=` with a text,
and `always()`. Anything else is an error of the test.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")  # what `shell: bash` means
PATIENT_S = 300


@dataclass
class Job:
    """One run of an action. steps: the names of those that ran; used: the `with` of each `uses`."""

    action: Mapping[str, Any]
    place: Path  # of the action
    workspace: Path
    temporary: Path
    environment: Mapping[str, str]
    steps: list[str] = field(default_factory=list)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    printed: str = ""
    summary: str = ""

    def run(self, leave_out: tuple[str, ...] = (), **inputs: str) -> int:
        """Run every step but those that are left out; return the status of the first that failed, or 0."""
        self.inputs = {name: str(one.get("default", "")) for name, one in self.action["inputs"].items()} | inputs
        unknown = set(inputs) - set(self.action["inputs"])
        assert not unknown, f"the action has no input {unknown}"
        failed = 0
        for step in self.action["runs"]["steps"]:
            condition = step.get("if", "")
            if step["name"] in leave_out or (failed and "always()" not in condition) or not self._holds(condition):
                continue
            self.steps.append(step["name"])
            if "uses" in step:
                self.used[step["uses"]] = {name: self._resolved(str(value)) for name, value in step["with"].items()}
                continue
            status = self._ran(step)
            failed = failed or status
        return failed

    def _ran(self, step: Mapping[str, Any]) -> int:
        assert step["shell"] == "bash"
        assert not EXPRESSION.search(step["run"]), f"{step['name']}: an expression in `run` becomes part of the program"
        output, summary = self.temporary / "output", self.temporary / "summary"
        output.write_text("", encoding="utf-8")
        summary.write_text("", encoding="utf-8")
        given = {name: self._resolved(str(value)) for name, value in step.get("env", {}).items()}
        files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(self.temporary)}
        script = self.temporary / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            [*BASH, str(script)], cwd=self.workspace, env={**self.environment, **given, **files}, capture_output=True,
            text=True, timeout=PATIENT_S, check=False,
        )  # fmt: skip
        self.printed += f"--- {step['name']}: {done.returncode}\n{done.stdout}{done.stderr}"
        self.summary += summary.read_text(encoding="utf-8")
        lines = output.read_text(encoding="utf-8").splitlines()
        self.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in lines)
        return done.returncode

    def _holds(self, condition: str) -> bool:
        parts = [part.strip() for part in condition.split("&&")] if condition else []
        return all(part == "always()" or self._compared(part) for part in parts)

    def _compared(self, part: str) -> bool:
        name, _, value = part.partition(" != ")
        assert re.fullmatch(r"'[^']*'", value), f"cannot evaluate {part}"
        return self._value(name) != value[1:-1]

    def _resolved(self, text: str) -> str:
        return EXPRESSION.sub(lambda found: self._either(found[1]), text)

    def _either(self, expression: str) -> str:
        return next((value for one in expression.split("||") if (value := self._value(one.strip()))), "")

    def _value(self, name: str) -> str:
        match name.split("."):
            case ["inputs", one]:
                return self.inputs[one]
            case ["steps", step, "outputs", one]:
                return self.outputs.get(step, {}).get(one, "")
            case ["github", "action_path"]:
                return str(self.place)
            case ["runner", "os"]:
                return "Linux"
        raise AssertionError(f"cannot evaluate {name}")
