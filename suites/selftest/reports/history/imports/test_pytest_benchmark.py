"""Files of pytest-benchmark under test: one that 5.3.1 wrote, without the data of each round."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.reports.history import Commit
from batchproof.suites.selftest.reports.history.imports.reading import HERE, read, read_json, stored, values

FILE = "pytest_benchmark.json"


def test_a_file_is_a_run() -> None:
    """With its commit, its time and the machine, but not the machine's name."""
    found = read(HERE / FILE)

    host = {key: found.host[key] for key in ("machine", "cpu", "cpus")}

    assert (found.origin, found.form, found.target) == ("pytest-benchmark 5.3.1", "pytest-benchmark", "fx")
    assert found.when == 1795427382
    assert found.commit == Commit("5f1c2e0a9b8d7c6e5f4a3b2c1d0e9f8a7b6c5d4e", 1795165200, dirty=True, branch="main")
    assert host == {"machine": "x86_64", "cpu": "AMD EPYC", "cpus": 2}
    assert "host" not in found.host.values()


def test_each_test_has_its_mean_median_and_minimum() -> None:
    """In nanoseconds, from so many rounds; a test is told by its whole name."""
    found = read(HERE / FILE)
    (one,) = [figure for figure in found.figures if figure.id == "pytest_benchmark.min_ns[test=test_sample.py-test_sum-100]"]

    assert (one.value, one.unit, one.better, one.n) == (pytest.approx(2512.9993), "ns", "lower", 3898)
    assert len(found.figures) == 9


@pytest.mark.parametrize("about", [
    {"id": "unversioned", "time": None}, {}, {"id": "5f1c2e0a9b", "time": "soon"}, {"id": None, "time": "2026-11-20"}])
def test_without_a_repository_there_is_no_commit(tmp_path: Path, about: dict[str, object]) -> None:
    """pytest-benchmark says `unversioned` then."""
    assert read_json(tmp_path, {**stored(FILE), "commit_info": about}).commit is None


def test_a_detached_head_has_no_branch(tmp_path: Path) -> None:
    """It is written in brackets."""
    data = stored(FILE)
    found = read_json(tmp_path, {**data, "commit_info": {**data["commit_info"], "branch": "(detached head)"}})

    assert found.commit is not None
    assert found.commit.branch == ""


def test_two_tests_that_would_share_an_id_do_not(tmp_path: Path) -> None:
    """What is lost when a name becomes an id comes back as digits of a hash."""
    data = stored(FILE)
    tests = [{"fullname": name, "stats": {"mean": number}} for number, name in enumerate(("t[a b]", "t[a/b]", "x" * 300), 1)]
    found = values(read_json(tmp_path, {**data, "benchmarks": tests}))

    assert list(found.values()) == [1e9, 2e9, 3e9]
    assert next(iter(found)) == "pytest_benchmark.mean_ns[test=t-a-b]"
