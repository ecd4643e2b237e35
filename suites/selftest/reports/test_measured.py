"""Figures are read from whatever folder holds them, and whatever is wrong with it is said in one message."""

import pytest

from batchproof.reports import ReportError, figures_of, measured
from batchproof.reports.figures import Figure
from batchproof.suites.selftest.report_lines import footer, header, result, write
from batchproof.suites.selftest.runs import END, HEAD, bench_of, line, yardstick

P99 = Figure("open.p99_ns[load=0.6]", 5e6, "ns", "lower", 4e6, 6e6, 1000)
GAIN = Figure("perf.gain", 2.5, "1", "higher")


def test_the_figures_of_a_bench(tmp_path):
    """They come in the order of the measurements; one without figures has none."""
    found = measured(bench_of(tmp_path, HEAD, line("a", P99), line("b"), END))

    assert found.figures == (P99,)
    assert (found.target, found.truncated, found.missing) == ("x 1", False, ())
    assert found.by_id() == {P99.id: P99}


def test_the_yardsticks_of_the_host_come_first(tmp_path):
    """They are figures like all others, and are not a measurement that somebody selected."""
    found = measured(bench_of(tmp_path, HEAD, yardstick(), line("a", P99), line("b"), yardstick(when="after"), END))

    ids = ["host.compute_ns[when=before]", "host.handover_ns[when=before]"]
    assert [one.id for one in found.figures] == [*ids, *(one.replace("before", "after") for one in ids), P99.id]


def test_the_figures_of_a_check(tmp_path):
    """A rule about speed has them in its result."""
    rule = result("PERF-SPEEDUP-001", figures=[GAIN.facts()])
    lines = header(rules=["PERF-SPEEDUP-001"]), rule, footer(counts={"PASS": 1})

    assert figures_of(write(tmp_path, *lines)) == (GAIN,)
    assert figures_of(tmp_path / "report.jsonl") == (GAIN,)
    (tmp_path / "report.jsonl").rename(tmp_path / "base.jsonl")
    assert figures_of(tmp_path / "base.jsonl") == (GAIN,)


def test_a_file_without_figures_has_none(tmp_path):
    """Files that were written before there were figures can still be read."""
    old = line("a")
    del old["figures"]

    assert figures_of(bench_of(tmp_path, HEAD, old)) == ()


def test_a_truncated_bench_says_so(tmp_path):
    """What was measured before it was killed is there, and what is missing has its name."""
    folder = bench_of(tmp_path, HEAD, line("a", P99))
    with (folder / "bench.jsonl").open("a") as file:
        file.write('{"type": "measurement", "measu')
    found = measured(folder)

    assert (found.figures, found.truncated, found.missing) == ((P99,), True, ("b",))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({**P99.facts(), "value": "NaN"}, "'figures.0.value' is not a number"),
        ({**P99.facts(), "value": float("inf")}, "'figures.0.value' is not a number"),
        ({**P99.facts(), "value": 10**400}, "too large"),
        ({**P99.facts(), "id": "<script>"}, "is not the id of a figure"),
        ({**P99.facts(), "id": "a" * 300}, "figures.0.id"),
        ({**P99.facts(), "low": 7e6}, "is empty"),
        ({**P99.facts(), "n": -1}, "figures.0.n"),
        ({**P99.facts(), "better": "bigger"}, "'figures.0.better' is 'bigger', and may be 'higher', 'lower'"),
        ({**P99.facts(), "colour": "red"}, "unknown fields: 'colour'"),
        ({"id": P99.id}, "lacks"),
    ],
)
def test_a_hostile_figure_is_refused(tmp_path, facts, said):
    """The message has the file and the reason, in one line."""
    with pytest.raises(ReportError) as refused:
        figures_of(bench_of(tmp_path, HEAD, line("a", facts)))

    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path}/bench.jsonl")
    assert "\n" not in str(refused.value)


def test_two_figures_of_one_id_are_refused(tmp_path):
    """A comparison would not know which one is meant."""
    with pytest.raises(ReportError, match=r"two figures have the id open\.p99_ns\[load=0\.6\]"):
        figures_of(bench_of(tmp_path, HEAD, line("a", P99), line("b", P99)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("hello\n", "not a header"),
        ('{"type": "header", "format": 99}\n', "its format is 99, and this version of Batchproof reads format 1"),
        ("\x00\x01\x02", "not a header"),
        ("[" * 100_000, "not a header"),
    ],
)
def test_a_foreign_or_newer_file_is_refused(tmp_path, text, said):
    """Whatever it is, there is one message that names it."""
    (tmp_path / "bench.jsonl").write_text(text)

    with pytest.raises(ReportError, match=said):
        figures_of(tmp_path)
    (tmp_path / "bench.jsonl").rename(tmp_path / "other.jsonl")
    with pytest.raises(ReportError, match=said):
        figures_of(tmp_path / "other.jsonl")


def test_a_folder_has_to_hold_one_run(tmp_path):
    """Without a file there is nothing to read, and with two nobody knows which one is meant."""
    with pytest.raises(ReportError, match=r"there is no bench\.jsonl, report\.jsonl or ab\.jsonl in this folder"):
        figures_of(tmp_path)
    with pytest.raises(ReportError, match="no such file"):
        figures_of(tmp_path / "gone")
    write(bench_of(tmp_path, HEAD), header())
    with pytest.raises(ReportError, match="holds a bench and a check: name"):
        figures_of(tmp_path)
