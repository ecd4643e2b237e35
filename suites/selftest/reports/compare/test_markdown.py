"""A comparison as Markdown: five lines and a table, in which nothing from a report becomes markup."""

import json

from batchproof.reports import measured
from batchproof.reports.compare import compare, to_markdown
from batchproof.reports.compare.markdown import MOST
from batchproof.suites.selftest.report_lines import HOSTILE
from batchproof.suites.selftest.runs import END, HEAD, HOST, bench_of, best, line, p99, run_of, yardstick


def test_five_lines_and_a_table(tmp_path):
    """The answer, what was compared, the machine, the gate, the rest; then what decides, and what changed."""
    base = run_of(tmp_path / "base", best(400.0), p99(5e6), p99(5e6, load=0.3))
    new = run_of(tmp_path / "new", best(360.0), p99(6e6), p99(5e6, load=0.3))

    lead, told = to_markdown(compare([base], [new])).split("\n\n")

    assert lead.count("  \n") == 4
    assert lead.startswith("**SLOWER: sweep.best_rows_per_s\\[work=accelerator\\] -10.0 % (-15.9 % to -3.7 %)**  \nbase: x")
    assert "one kind of machine: A, 6.8" in lead
    assert "margin 5 %; 1 figure decides; one result a side: equal runs are assumed to vary by 2 % (--run-spread)" in lead
    assert "2 other figures: 1 SLOWER, 1 UNPROVEN" in lead
    assert [row.split("|")[1].strip() for row in told.splitlines()] == ["", "------", "SLOWER", "SLOWER"]
    assert "| 5 ms |" in told.replace("  ", "")


def test_one_line_for_what_vanished(tmp_path):
    """It is named, and noted in the table."""
    base, new = run_of(tmp_path / "base", best(400.0), p99(5e6)), run_of(tmp_path / "new", p99(5e6))

    text = to_markdown(compare([base], [new]))

    assert text.startswith("**INVALID: sweep.best_rows_per_s\\[work=accelerator\\] not measured in NEW**")
    assert "vanished: sweep.best_rows_per_s" in text
    assert "| note" in text


def test_hostile_names_stay_text(tmp_path):
    """Of the target, the host and the reasons."""
    header = HEAD | {"target": HEAD["target"] | {"name": HOSTILE, "version": HOSTILE}, "host": HOST | {"cpu": HOSTILE}}
    lines = json.loads(json.dumps([header, yardstick(), line("a", best(400.0)), line("b"), END]))
    runs = [measured(bench_of(tmp_path / name, *lines)) for name in ("base", "new")]

    text = to_markdown(compare([runs[0]], [runs[1]]))

    assert "<script>" not in text
    assert "\x1b" not in text
    assert "[x](http" not in text
    assert text.split("\n\n")[0].count("\n") == 4


def test_a_long_table_is_cut(tmp_path):
    """A pull request is read on a page; it says how many rows are missing."""
    figures = [p99(5e6, load=number) for number in range(MOST + 5)]
    base, new = run_of(tmp_path / "base", *figures), run_of(tmp_path / "new", *figures)

    text = to_markdown(compare([base], [new]))

    assert text.count("\n| UNPROVEN") == MOST
    assert "5 more rows are not shown." in text
