"""Foreign files under test, whatever they are: one message each, which names the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.reports.history.imports import TOOLS, found_in, source
from batchproof.reports.history.imports.source import Figures, NotImported, Source
from batchproof.suites.selftest.reports.history.imports.reading import HERE

FILES = sorted(HERE.glob("*.json"))


def why_not(path: Path) -> str:
    """Return the message for a file that cannot be imported."""
    with pytest.raises(NotImported) as caught:
        found_in(Source.of(path))
    return str(caught.value)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "it is empty"),
        (b" \n \n", "it is empty"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "it is not text"),
        (b"# A page\n", "no reader knows such a file"),
        (b"{}", "no reader knows such a file"),
        (b"[1, 2", "it is not JSON, although it begins so"),
        (b"[" * 200_000, "it is not JSON, although it begins so"),
        (b'{"benchmarks": [' + b"9" * 5000, "it is not JSON, although it begins so"),
        (b"a,b\n1,2\n", "no reader knows such a file"),
        (b'{"benchmarks": [], "machine_info": {}}', "a file of pytest-benchmark without a single figure"),
        (b'{"benchmarks": 5, "machine_info": 5}', "a file of pytest-benchmark without a single figure"),
        (b'{"benchmarks": [{"fullname": "x", "stats": {"mean": NaN, "min": 1e999, "median": "fast"}}], "machine_info": {}}',
         "without a single figure"),
        (b'{"experiments": [{"requests": [{"timestamp": 1, "response_timestamps": 7}]}]}', "without a single figure"),
        (b"Concurrency,Inferences/Second\n", "a file of perf_analyzer without a single figure"),
        (b'Concurrency,Inferences/Second\n"' + b"x" * 200_000, "cannot be read as one (Error: field larger"),
        (b"Type,Name,Request Count,Failure Count,\nGET,/,1e400,0\n", "a file of Locust without a single figure"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_told(tmp_path: Path, raw: bytes, words: str) -> None:
    """Empty, foreign, cut, hostile: the message names the file and what is wrong with it."""
    path = tmp_path / "file"
    path.write_bytes(raw)
    said = why_not(path)

    assert said.startswith(f"{path}: ")
    assert words in said


def test_a_file_that_is_not_there_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would fill the memory is not read at all."""
    path = tmp_path / "large"
    path.write_text("x" * 100)

    assert why_not(tmp_path / "gone") == f"{tmp_path / 'gone'}: cannot be read (No such file or directory)"
    assert why_not(tmp_path) == f"{tmp_path}: cannot be read (it is a folder, not a file)"
    monkeypatch.setattr(source, "MOST", 50)
    assert why_not(path) == f"{path}: it has 0 MiB, and at most 0 are read"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_told(tmp_path: Path, path: Path, share: float) -> None:
    """JSON that ends early is no JSON."""
    whole = path.read_text().rstrip()
    cut = tmp_path / "cut"
    cut.write_text(whole[: int(len(whole) * share)])

    assert "it is not JSON, although it begins so" in why_not(cut)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_hostile_file_is_a_run_or_a_message(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever stands in a place where a tool writes something else."""
    whole = json.loads(data.draw(st.sampled_from(FILES)).read_text())
    place = whole
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(JSON)
        break
    path = tmp_path_factory.getbasetemp() / "hostile.json"
    path.write_text(json.dumps(whole))

    found, said = [], str(path)
    try:
        found = found_in(Source.of(path))
    except NotImported as why:
        said = str(why)
    assert all(one.figures for one in found)
    assert str(path) in said


def test_names_become_ids() -> None:
    """Any name does, none is lost, and the same name has the same id."""
    figures = Figures("tool")
    names = ["a", "a", "é/ü", "%", "", "x" * 500, "x" * 501, "a b", "a-b"]
    for number, name in enumerate(names):
        figures.add("p99_ns", number, "ns", "lower", {"test": name})
    found = {figure.id: figure.value for figure in figures.all()}

    assert sorted(found.values()) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert found["tool.p99_ns[test=a]"] == 1
    assert all(len(one) <= 200 for one in found)


@pytest.mark.parametrize(("given_", "value"), [
    (1, 1.0), ("1,234.5", 1234.5), ("1e3", 1000.0), (True, None), ("N/A", None), (None, None), ("inf", None),
    (10**400, None),
])
def test_numbers_are_read_as_tools_write_them(given_: object, value: float | None) -> None:
    """With a comma between thousands, as GenAI-Perf does, and without what is none."""
    assert source.as_number(given_) == value


def test_every_tool_has_a_name() -> None:
    """The command names them where it knows no other."""
    assert {tool.NAME for tool in TOOLS.values()} >= {"Locust", "MLPerf LoadGen", "perf_analyzer"}
