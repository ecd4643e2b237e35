"""Replay bundles under test: what is written can be read, and a bad file is refused in one clear message."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.reports.formats.bundle import INSIDE, Bundle, BundleError, name, read, write

TARGET = {"name": "x", "version": "1", "reached": "x", "contact": "", "sight": "wire", "claims": {"delay": True}}
FAILED = {"verdict": "FAIL", "expected": "", "actual": ""}
BUNDLE = Bundle("DB-LIVE-001", "timeline", {"requests": []}, TARGET, 7, None, FAILED)
FINDINGS = sorted((Path(__file__).parents[4] / "docs" / "findings").glob("*.zip"))
LEAVES = st.none() | st.booleans() | st.integers() | st.text()
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def zipped(path: Path, **contents: str) -> Path:
    """Return a zip with these texts; `bundle` stands for bundle.json."""
    with zipfile.ZipFile(path, "w") as archive:
        for word, text in contents.items():
            archive.writestr(INSIDE if word == "bundle" else word, text)
    return path


def test_a_bundle_survives_writing_and_reading(tmp_path: Path) -> None:
    """It comes back unchanged, with the failure as a text for people, under a name with the rule and the seed."""
    write(tmp_path / "a.zip", BUNDLE, "FAIL")

    assert read(tmp_path / "a.zip") == BUNDLE
    assert zipfile.ZipFile(tmp_path / "a.zip").read("failure.txt") == b"FAIL"
    assert name(BUNDLE.rule, BUNDLE.seed) == "bundles/db-live-001-7.zip"


def test_findings_are_read() -> None:
    """The bundles of the published findings have the current format."""
    assert len(FINDINGS) >= 7
    assert {read(path).judgement["verdict"] for path in FINDINGS} <= {"FAIL", "KNOWN"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": 9}, "its format is 9, and this version of Batchproof reads format 1"),
        ({"seed": "x"}, "is not a replay bundle: in bundle.json, 'seed' is not an integer"),
        ({"evidence": None}, "'evidence' is not an object"),
        ({"surprise": 1}, "it has unknown fields: 'surprise'"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    """The message names the file and the field."""
    write(tmp_path / "a.zip", BUNDLE, "")
    data = json.loads(zipfile.ZipFile(tmp_path / "a.zip").read(INSIDE))

    with pytest.raises(BundleError) as error:
        read(zipped(tmp_path / "b.zip", bundle=json.dumps(data | changed)))

    assert message in str(error.value)
    assert str(tmp_path / "b.zip") in str(error.value)


@settings(max_examples=50, deadline=None)
@given(data=JSON)
def test_no_json_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """Whatever JSON it contains, the answer is a BundleError of one line."""
    with pytest.raises(BundleError) as error:
        read(zipped(tmp_path_factory.mktemp("hostile") / "a.zip", bundle=json.dumps(data)))

    assert "\n" not in str(error.value)
