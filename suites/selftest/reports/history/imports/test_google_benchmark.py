"""Files of Google Benchmark under test: two that 1.9.5 wrote, without and with repetitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.reports.history.imports.source import NotImported
from batchproof.suites.selftest.reports.history.imports.reading import HERE, read, read_json, stored, values

FILE, REPEATED = "google_benchmark.json", "google_benchmark_repeated.json"
NAME = "google_benchmark.real_time_ns[test=items-8]"


def test_a_file_is_a_run() -> None:
    """Of the program that it was, with times in nanoseconds whatever the unit, and without what ended with an error."""
    found = read(HERE / FILE)

    assert (found.origin, found.form, found.target) == ("Google Benchmark 1.9.5", "Google Benchmark", "gb.py")
    assert (found.when, dict(found.host)) == (1795427391, {"cpus": 2})
    assert values(found)[NAME] == pytest.approx(1486.219)
    assert values(found)["google_benchmark.items_per_s[test=items-8]"] == pytest.approx(35973691.12)
    assert not [figure for figure in found.figures if "broken" in figure.id]


def test_of_repetitions_the_median_counts() -> None:
    """Google Benchmark's own median is the same."""
    data = stored(REPEATED)
    (theirs,) = [one for one in data["benchmarks"] if one["name"] == "items/8_median"]
    (ours,) = [figure for figure in read(HERE / REPEATED).figures if figure.id == NAME]

    assert (ours.value, ours.n) == (pytest.approx(theirs["real_time"] * 1e3), 3)


def test_aggregates_alone_are_enough(tmp_path: Path) -> None:
    """`--benchmark_report_aggregates_only` leaves no single repetitions."""
    data = stored(REPEATED)
    only = [one for one in data["benchmarks"] if one["run_type"] == "aggregate"]

    assert values(read_json(tmp_path, {**data, "benchmarks": only})) == pytest.approx(values(read(HERE / REPEATED)))


def test_a_debug_build_of_the_library_is_another_form(tmp_path: Path) -> None:
    """Google Benchmark itself warns of it."""
    data = stored(FILE)

    context = {**data["context"], "library_build_type": "debug"}

    assert read_json(tmp_path, {**data, "context": context}).form == "Google Benchmark debug"


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """Its fields may mean something else."""
    data = stored(FILE)

    with pytest.raises(NotImported, match="its JSON schema is 2, and 1 is the one that is known"):
        read_json(tmp_path, {**data, "context": {"json_schema_version": 2}})
