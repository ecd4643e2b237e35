"""The files that docs/ci.md shows are run: whoever copies them gets what the page says."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from batchproof.suites.selftest.ci_files import PAGE, command, files, repository, run, shell_of
from batchproof.suites.selftest.offline import ROOT, checkout, environment, git

yaml = pytest.importorskip("yaml", reason="the extra `selftest` (pyyaml) is not installed")
pytestmark = [
    pytest.mark.skipif(not PAGE.is_file(), reason="no docs here: the documentation is not installed"),
    pytest.mark.timeout(300),
]
GOOD = 'name: "a"\nbackend: "onnxruntime"\nmax_batch_size: 8\n'
DELAYED = GOOD + "dynamic_batching { max_queue_delay_microseconds: 100 }\n"
WRONG = 'name: "a"\nbackend: "onnxruntime"\nmax_batch_size: -1\n'
GITLAB, GITHUB, NIGHTLY = ".gitlab-ci.yml", ".github/workflows/batcher.yml", ".github/workflows/nightly.yml"
BROKEN = "mutant:delay-rearmed"
SAME_SPEED = 'if [ "$1" = ab ]; then mkdir -p speed; echo "as fast" > speed/ab.md; exit ${SPEED:-0}; fi'
JUDGED = 'if [ "$1" = check ]; then cp -r "$REPORTS/$3" "$5"; exit "$(cat "$REPORTS/$3/status")"; fi'
NOT_READ_YET = 'case "$1 $2" in "history page" | "history changes") exit 0;; esac'


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a wheel of this checkout."""
    place, out = checkout(tmp_path_factory.mktemp("source") / "batchproof"), tmp_path_factory.mktemp("wheels")
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(place)]
    subprocess.run(words, env=environment(), check=True)
    return out


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a report on a right target and one on a broken target, each with the status of its `check`."""
    place = tmp_path_factory.mktemp("reports")
    path = command(place / "bin")
    for target in ("reference", BROKEN):
        done = run(place, ["batchproof", "check", "--target", target, "--report", target], PATH=path)
        (place / target / "status").write_text(str(done.returncode), encoding="utf-8")
    return place


@pytest.mark.parametrize(
    ("name", "schema"), [(GITHUB, "github-workflows"), (NIGHTLY, "github-workflows"), (GITLAB, "gitlab-ci")]
)
def test_a_file_keeps_to_its_schema(name: str, schema: str) -> None:
    """The package check-jsonschema ships the schemas of SchemaStore."""
    found = importlib.util.find_spec("check_jsonschema")
    if found is None or found.origin is None:
        pytest.skip("the extra `selftest` (check-jsonschema) is not installed")
    path = Path(found.origin).parent / "builtin_schemas" / "vendor" / f"{schema}.json"
    data = yaml.safe_load(files()[name])
    data = {"on" if key is True else key: value for key, value in data.items()}  # in YAML 1.1, `on` is true

    errors = Draft7Validator(json.loads(path.read_text(encoding="utf-8"))).iter_errors(data)

    assert [f"{error.json_path}: {error.message[:200]}" for error in errors] == []


def test_the_workflow_uses_the_action_as_it_is() -> None:
    """Every input that it gives is one, and every output that it takes is one; the page's table lists them all."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (steps,) = (job["steps"] for job in yaml.safe_load(files()[GITHUB])["jobs"].values())
    (ours,) = (step for step in steps if step.get("uses") == "./.batchproof")
    table = [line.split("`")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]

    assert set(ours["with"]) <= set(action["inputs"])
    assert "steps.batchproof.outputs.report" in files()[GITHUB]
    assert "report" in action["outputs"]
    assert table[: len(action["inputs"])] == list(action["inputs"])


def test_the_gate_lets_a_good_change_through(tmp_path: Path) -> None:
    """It lints, shows in words what changes, judges, and leaves no worktree behind."""
    folder = repository(tmp_path / "repository", GOOD, DELAYED)

    done = run(folder, ["sh", "ci/gate.sh"], PATH=command(tmp_path / "bin"), TARGET="reference", BASE="base")

    assert done.returncode == 0, done.stdout
    assert "1 file read; nothing found" in done.stdout
    assert "\n+    - It waits for company for 100 us at most." in done.stdout
    assert "CONFORMANT in part to CORE" in done.stdout
    assert not (folder / ".base").exists()


def test_the_gate_stops_what_the_server_would_refuse(tmp_path: Path) -> None:
    """Nothing is judged then."""
    folder = repository(tmp_path / "repository", GOOD, WRONG)

    done = run(folder, ["sh", "ci/gate.sh"], PATH=command(tmp_path / "bin"), TARGET="reference", BASE="base")

    assert (done.returncode, "CFG-SIZE-001" in done.stdout, "CONFORMANT" in done.stdout) == (1, True, False)


def test_the_gate_stops_a_broken_stack_without_a_second_try(tmp_path: Path) -> None:
    """A FAIL is not judged again."""
    folder = repository(tmp_path / "repository", GOOD, GOOD)

    done = run(folder, ["sh", "ci/gate.sh"], PATH=command(tmp_path / "bin"), TARGET=BROKEN, BASE="base")

    assert (done.returncode, done.stdout.count("NOT CONFORMANT")) == (1, 1)


def test_the_gate_judges_once_more_what_is_inconclusive(tmp_path: Path) -> None:
    """75 twice stays 75, and the second try is the patient one."""
    folder = repository(tmp_path / "repository", GOOD, GOOD)
    path = command(tmp_path / "bin", 'if [ "$1" = check ]; then echo "$@"; exit 75; fi')

    done = run(folder, ["sh", "ci/gate.sh"], PATH=path, TARGET="reference", BASE="base")

    tries = [line for line in done.stdout.splitlines() if line.startswith("check --target")]
    assert (done.returncode, [line.split("--report ")[1] for line in tries]) == (
        75, ["batchproof-report", "batchproof-report-again --patience thorough"],
    )  # fmt: skip


@pytest.mark.parametrize("system", ["gitlab", "jenkins"])
def test_a_ci_system_runs_the_gate(system: str, wheel: Path, tmp_path: Path) -> None:
    """The lines of .gitlab-ci.yml, and each `sh` of the Jenkinsfile, install a wheel and gate."""
    folder = repository(tmp_path / "repository", GOOD, DELAYED)
    (folder / "wheels").symlink_to(wheel)
    if system == "gitlab":
        script = "\n".join(yaml.safe_load(files()[GITLAB])["batcher"]["script"])
        scripts, shell = [script], ["bash", "-eo", "pipefail", "-c"]
        given = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "base"}
    else:
        scripts, shell = shell_of(files()["Jenkinsfile"]), ["sh", "-xec"]
        given = {"CHANGE_TARGET": "base"}
        run(folder, ["git", "update-ref", "refs/remotes/origin/base", "base"])

    path = command(tmp_path / "bin")
    done = [run(folder, [*shell, one], PATH=path, TARGET="reference", **given) for one in scripts]

    assert [one.returncode for one in done] == [0] * len(scripts), done[-1].stdout
    assert (folder / ".venv" / "bin" / "batchproof").exists()
    assert "CONFORMANT to CORE" in done[-1].stdout
    assert (folder / "batchproof-report" / "junit.xml").exists()


@pytest.mark.parametrize(
    ("old", "new", "speed", "status", "said"),
    [
        ("reference", "reference", 0, 0, "No verdict changed."),
        ("reference", "reference", 1, 1, "No verdict changed."),
        ("reference", "reference", 75, 75, "No verdict changed."),
        ("reference", BROKEN, 0, 1, "1 new failure: DB-DELAY-005"),
        ("reference", BROKEN, 75, 1, "1 new failure: DB-DELAY-005"),
        (BROKEN, "reference", 0, 0, "1 rule is fixed: DB-DELAY-005"),
        (BROKEN, BROKEN, 0, 0, "1 rule fails as before"),
    ],
)
def test_an_upgrade_is_stopped_by_what_is_worse(
    old: str, new: str, speed: int, status: int, said: str, tmp_path: Path, reports: Path
) -> None:
    """What the old version breaks as well is not held against the new one; what is slower is.

    `ab` is a stand-in here, and each target is judged once for all cases.
    """
    (tmp_path / "upgrade.sh").write_text(files()["ci/upgrade.sh"], encoding="utf-8")
    path = command(tmp_path / "bin", f"{SAME_SPEED}\n{JUDGED}")

    done = run(tmp_path, ["sh", "upgrade.sh"], PATH=path, OLD=old, NEW=new, SPEED=str(speed), REPORTS=str(reports))

    assert (done.returncode, said in done.stdout, "as fast" in done.stdout) == (status, True, True), done.stdout


def test_an_upgrade_measures_both_versions_side_by_side(tmp_path: Path) -> None:
    """`ab` itself, for a moment: it cannot decide in that time, and says so."""
    (tmp_path / "upgrade.sh").write_text(files()["ci/upgrade.sh"], encoding="utf-8")
    path = command(tmp_path / "bin", 'if [ "$1" = ab ]; then set -- "$@" --seconds 3; fi')

    done = run(tmp_path, ["sh", "upgrade.sh"], PATH=path, OLD="reference", NEW="reference")

    assert done.returncode in (0, 1, 75), done.stdout
    assert (tmp_path / "speed" / "ab.md").read_text(encoding="utf-8") in done.stdout


def test_an_upgrade_to_what_cannot_start_is_not_compared(tmp_path: Path) -> None:
    """A target that cannot be judged ends the script with its own status."""
    (tmp_path / "upgrade.sh").write_text(files()["ci/upgrade.sh"], encoding="utf-8")

    done = run(tmp_path, ["sh", "upgrade.sh"], PATH=command(tmp_path / "bin"), OLD="reference", NEW="grpc://127.0.0.1:1")

    assert (done.returncode, (tmp_path / "upgrade.md").exists()) == (4, False), done.stdout


def test_a_night_is_kept_and_searched(tmp_path: Path) -> None:
    """Eight nights, one for each commit: the first seven are too few to search, and the eighth is searched.

    What the second to the sixth night would show is left out.
    """
    for module in ("sqlalchemy", "otava"):
        pytest.importorskip(module, reason=f"the extra `selftest` ({module}) is not installed")
    folder = repository(tmp_path / "repository", GOOD, GOOD)
    given = {"TARGET": "virtual", "BRANCH": "main"}
    whole, kept = command(tmp_path / "bin"), command(tmp_path / "early", NOT_READ_YET)
    given["BATCHPROOF_HISTORY"] = str(tmp_path / "history.sqlite")
    said = []
    for night in range(8):
        git(folder, "commit", "--quiet", "--allow-empty", f"--message=night {night}")
        done = run(folder, ["sh", "ci/nightly.sh"], PATH=kept if 0 < night < 6 else whole, **given)
        said.append(done.stdout)
        assert done.returncode == 0, done.stdout

    assert "virtual" in (folder / "history.html").read_text(encoding="utf-8")
    assert "no series has 8 valid runs" in said[6]
    assert "0 change points in" in said[7]
    assert "added: run 8, bench of virtual" in said[7]


@pytest.mark.parametrize(("bench", "changes", "status"), [(1, 0, 1), (75, 5, 75), (0, 1, 1), (75, 1, 1), (4, 0, 4)])
def test_a_night_ends_with_what_matters(tmp_path: Path, bench: int, changes: int, status: int) -> None:
    """A change for the worse goes before a noisy night; a target that cannot be reached ends it before anything is kept."""
    (tmp_path / "nightly.sh").write_text(files()["ci/nightly.sh"], encoding="utf-8")
    body = f'echo "$@"; case "$1 $2" in bench*) exit {bench};; "history changes") exit {changes};; *) exit 0;; esac'

    done = run(tmp_path, ["sh", "nightly.sh"], PATH=command(tmp_path / "bin", body), TARGET="x", BRANCH="main")

    assert (done.returncode, "history add bench" in done.stdout) == (status, bench != 4), done.stdout
