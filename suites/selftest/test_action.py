"""action.yml: its steps are run as GitHub runs them, from a clone of this checkout, without a network."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft7Validator

from batchproof.suites.selftest.composite import Job
from batchproof.suites.selftest.offline import ROOT, checkout, environment

if TYPE_CHECKING:
    from collections.abc import Callable

yaml = pytest.importorskip("yaml", reason="the extra `selftest` (pyyaml) is not installed")
pytestmark = [
    pytest.mark.skipif(not (ROOT / "action.yml").is_file(), reason="not a checkout: there is no action"),
    pytest.mark.timeout(300),
]
INSTALL = ("Name the cache", "Cache the packages", "Install")
MUTANT = {"target": "mutant:delay-rearmed", "arguments": "--rules\nDB-DELAY-00[1-5]\n"}
GOOD = {"target": "reference", "arguments": "--rules=DB-DELAY-00[1-5]"}


@pytest.fixture(scope="module")
def action() -> Any:
    """Return the action, parsed."""
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def installed(action: Any, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a job whose first steps have run: Batchproof is installed from a clone."""
    place = checkout(tmp_path_factory.mktemp("action") / "batchproof")
    job = Job(action, place, tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("temp"), environment())
    others = tuple(step["name"] for step in action["runs"]["steps"] if step["name"] not in INSTALL)

    assert job.run(leave_out=others) == 0, job.printed
    return job


@pytest.fixture
def job(action: Any, installed: Job, tmp_path: Path) -> Callable[..., tuple[int, Job]]:
    """`job(**inputs)`: run the other steps in a workspace of its own; return the status and the job."""

    def run(**inputs: str) -> tuple[int, Job]:
        (installed.temporary / "explained.txt").unlink(missing_ok=True)
        one = Job(action, installed.place, tmp_path, installed.temporary, installed.environment)
        return one.run(leave_out=INSTALL, **inputs), one

    return run


def configuration(folder: Path, text: str) -> None:
    """Write a model's configuration."""
    (folder / "models" / "a").mkdir(parents=True)
    (folder / "models" / "a" / "config.pbtxt").write_text(text, encoding="utf-8")


def test_it_keeps_to_the_schema_of_actions(action: Any) -> None:
    """The package check-jsonschema ships the schema that SchemaStore has for such files."""
    found = importlib.util.find_spec("check_jsonschema")
    if found is None or found.origin is None:
        pytest.skip("the extra `selftest` (check-jsonschema) is not installed")
    schema = Path(found.origin).parent / "builtin_schemas" / "vendor" / "github-actions.json"

    errors = Draft7Validator(json.loads(schema.read_text(encoding="utf-8"))).iter_errors(action)

    assert [f"{error.json_path}: {error.message[:200]}" for error in errors] == []


def test_it_installs_and_names_a_cache(installed: Job) -> None:
    """The key follows the interpreter, the extras and what is installed."""
    cache = installed.used["actions/cache@v4"]

    assert installed.steps == list(INSTALL)
    assert cache["key"].startswith("batchproof-Linux-")
    assert len(cache["key"]) == len("batchproof-Linux-") + 16
    assert Path(cache["path"]).is_absolute()
    assert "batchproof 2" in installed.printed


def test_a_conformant_target_passes(job: Callable[..., tuple[int, Job]]) -> None:
    """The summary has the sentence, the report is uploaded, and the outputs name it."""
    status, one = job(**GOOD)

    assert (status, one.outputs["check"]) == (0, {"status": "0", "report": "batchproof-report"}), one.printed
    assert "**CONFORMANT in part to CORE" in one.summary
    assert one.used["actions/upload-artifact@v4"]["path"].split() == ["batchproof-report", "batchproof-report-again"]


def test_a_target_that_fails_stops_the_job_after_everything_else(job: Callable[..., tuple[int, Job]]) -> None:
    """Annotations, summary and upload come before the gate, and a failure is not judged again."""
    status, one = job(**MUTANT)

    assert (status, one.steps[-3:]) == (1, ["Summarise", "Upload the report", "Gate"])
    assert "::error title=FAIL DB-DELAY-005" in one.printed
    assert "**NOT CONFORMANT: 1 of 5 judged MUST rules fails" in one.summary
    assert one.outputs["check"]["report"] == "batchproof-report"


def test_a_base_shows_what_is_new(job: Callable[..., tuple[int, Job]]) -> None:
    """The report of another branch is compared with; one that does not exist costs nothing."""
    job(**GOOD, report="base")

    _, one = job(**MUTANT, base="base")
    _, other = job(**MUTANT, base="gone")

    assert "1 new failure: DB-DELAY-005" in one.summary
    assert ("new failure" in other.summary, "NOT CONFORMANT" in other.summary) == (False, True)


def test_the_report_of_another_run_is_not_told(job: Callable[..., tuple[int, Job]]) -> None:
    """A target that cannot be started leaves no report, and the one that lies there is not about it."""
    job(**GOOD)

    for target, expected in (("json:decoder", 2), ("json:loads", 4)):
        status, one = job(target=target)
        assert (status, one.outputs["check"], one.summary) == (expected, {"status": str(expected), "report": ""}, "")


def test_configurations_are_linted_and_explained(job: Callable[..., tuple[int, Job]], tmp_path: Path) -> None:
    """What Triton would refuse stops the job, and the summary says in plain words what it would do."""
    configuration(tmp_path, 'name: "a"\nbackend: "onnxruntime"\nmax_batch_size: 8\ndynamic_batching { }\n')
    fine, good = job(configs="\n  \nmodels/\n")
    (tmp_path / "models" / "a" / "config.pbtxt").write_text('backend: "onnxruntime"\nmax_batch_size: -1\n')
    refused, bad = job(configs="models/**/config.pbtxt")

    assert (fine, refused) == (0, 1), good.printed + bad.printed
    assert "\n    models/a/config.pbtxt: a: a dynamic batcher, up to 8 rows in a batch" in good.summary
    assert "::error file=models/a/config.pbtxt,line=2,col=1,title=CFG-SIZE-001" in bad.printed
    assert "Judge the target" not in bad.steps


def test_what_is_inconclusive_is_judged_once_more(
    job: Callable[..., tuple[int, Job]], installed: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """75 and nothing else is tried again, with more patience and into a folder of its own; the second status counts."""
    real, noted = installed.temporary / "batchproof" / "bin" / "batchproof", installed.temporary / "noted"
    real.rename(real.with_name("real"))
    try:
        real.write_text(f'#!/bin/sh\necho "$@" >> {noted}\ncase "$*" in *thorough*) exit 0;; check*) exit 75;; esac\n')
        real.chmod(0o755)
        again, first = job(**GOOD)
        given_up, _ = job(**GOOD, again="false")
    finally:
        real.with_name("real").replace(real)

    checks = [line for line in noted.read_text().splitlines() if line.startswith("check")]
    assert (again, given_up, len(checks)) == (0, 75, 3)
    assert checks[1].endswith("--report=batchproof-report-again --patience thorough")
    assert first.outputs["check"]["report"] == "batchproof-report-again"


@pytest.mark.parametrize("name", ["target", "arguments", "report", "base", "configs"])
def test_no_input_becomes_a_part_of_the_program(job: Callable[..., tuple[int, Job]], tmp_path: Path, name: str) -> None:
    """Quotes, substitutions, line ends and commands of GitHub in an input are text."""
    evil = "x'\"$(touch pwned)`touch pwned`; touch pwned\nstatus=0"
    inputs = {**GOOD, name: evil}

    job(**inputs)

    assert not (tmp_path / "pwned").exists()


def test_nothing_to_do_is_misuse(job: Callable[..., tuple[int, Job]]) -> None:
    """A job that judges nothing must not be green."""
    status, one = job()

    assert status == 2
    assert "set the input target, or configs, or both" in one.printed


@pytest.mark.parametrize("package", ["gone.whl", "*.whl"])
def test_a_package_that_is_not_there(action: Any, tmp_path: Path, package: str) -> None:
    """One line that names the input."""
    one = Job(action, ROOT, tmp_path, tmp_path, environment())

    assert one.run(target="reference", package=package) == 2
    assert f"batchproof: {package} is not one wheel or one folder: set the input package" in one.printed
    assert "Judge the target" not in one.steps
