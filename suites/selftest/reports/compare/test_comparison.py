"""Comparison: each figure has its answer, and what must not be compared is refused with one message."""

import json
from dataclasses import replace

import pytest

from batchproof.reports import measured
from batchproof.reports.compare import NotComparable, compare
from batchproof.reports.figure_names import figure
from batchproof.suites.selftest.runs import END, HEAD, HOST, TARGET, bench_of, best, line, p99, run_of, yardstick


@pytest.mark.parametrize(
    ("base", "new", "answer"),
    [
        (best(400.0), best(404.0), "UNPROVEN"),
        (best(400.0), best(385.0), "UNPROVEN"),
        (best(400.0), best(360.0), "SLOWER"),
        (best(400.0), best(440.0), "FASTER"),
        (best(400.0), best(404.0, 1.2), "UNPROVEN"),
        (best(400.0), best(360.0, 0), "UNPROVEN"),
        (best(400.0), best(360.0, valid=False), "INVALID"),
        (best(400.0, valid=False), best(360.0), "INVALID"),
        (p99(5e6), p99(6e6), "SLOWER"),
        (p99(5e6), p99(4e6), "FASTER"),
    ],
)
def test_the_answers(tmp_path, base, new, answer):
    """More rows a second are better, and more nanoseconds are worse."""
    found = compare([run_of(tmp_path / "base", base)], [run_of(tmp_path / "new", new)])

    assert (found.change, found.rows[0].change) == (answer, answer)
    assert bool(found.rows[0].why) == (answer in ("UNPROVEN", "INVALID"))


@pytest.mark.parametrize(
    ("rates", "more", "why"),
    [
        ([[400.0], [404.0]], {}, "9 runs a side would tell"),
        ([[400.0], [404.0]], {"run_spread": 0.005}, ""),
        ([[400.0], [404.0]], {"run_spread": 0.1}, "more than 30 runs a side: measure with `ab` instead"),
        ([[400.0], [404.0]], {"margin": 0.0}, "without a margin, no number of runs shows that nothing has changed"),
        ([[396.0, 400.0, 404.0], [394.0]], {}, "4 runs a side would tell"),
    ],
)
def test_unproven_says_how_many_runs_would_tell(tmp_path, rates, more, why):
    """By how the runs vary, or are assumed to."""
    sides = [[run_of(tmp_path / f"{at}-{rate}", best(rate)) for rate in side] for at, side in enumerate(rates)]

    found = compare(*sides, **more)

    assert (found.change, found.rows[0].why) == ("UNPROVEN" if why else "SAME", why)
    assert found.assumes == (len(rates[0]) == 1)


def test_simulated_time_does_not_vary(tmp_path):
    """One run a side tells everything there."""
    virtual = {"target": TARGET | {"sight": "virtual"}}

    found = compare([run_of(tmp_path / "a", best(400.0), **virtual)], [run_of(tmp_path / "b", best(404.0), **virtual)])

    assert (found.change, found.assumes) == ("SAME", False)


def test_sides_that_were_compared_already_are_refused(tmp_path):
    """The answer of `ab` is in its folder, and two answers have no ratio."""
    answered = replace(run_of(tmp_path / "ab", best(400.0)), header=HEAD | {"questions": ["typical throughput"]})

    assert "is a comparison of `ab`, which has its answer (ab.md)" in refusal(answered, answered)


def test_only_some_figures_decide(tmp_path):
    """A p99 that is slower is told; the registry says that the best rate decides, and the caller may say otherwise."""
    runs = [run_of(tmp_path / "base", best(400.0), p99(5e6))], [run_of(tmp_path / "new", best(400.0), p99(6e6))]

    found = compare(*runs)

    assert [(row.id.partition("[")[0], row.change, row.decides) for row in found.rows] == [
        ("sweep.best_rows_per_s", "UNPROVEN", True), ("open.p99_ns", "SLOWER", False),
    ]
    assert found.change == "UNPROVEN"
    assert compare(*runs, patterns=["open.*"]).change == "SLOWER"
    assert compare(*runs, patterns=[p99(5e6).id]).change == "SLOWER"
    assert [row.id for row in compare(*runs, patterns=["sweep.*"]).rows] == [best(1.0).id]


def test_several_figures_that_decide_share_the_doubt(tmp_path):
    """All together are wrong in 1 % of comparisons, so each has less than that."""
    names = [p99(5e6, load=load) for load in (0.3, 0.6, 0.9)]
    runs = [run_of(tmp_path / "base", *names)], [run_of(tmp_path / "new", *names)]

    assert compare(*runs).confidence == pytest.approx(1 - 0.01 / 3)
    assert compare(*runs, patterns=[names[0].id]).confidence == 0.99


def test_figures_that_vanished_are_told(tmp_path):
    """One that decides makes the comparison INVALID; one that is new is listed."""
    runs = [run_of(tmp_path / "base", best(400.0), p99(5e6))], [run_of(tmp_path / "new", p99(5e6), p99(5e6, load=0.9))]

    found = compare(*runs)

    assert (found.change, found.rows[0].gone, found.rows[0].why) == ("INVALID", True, "not measured in NEW")
    assert found.appeared == (p99(1.0, load=0.9).id,)
    json.dumps(found.facts())


def test_another_figure_of_the_same_name_is_not_compared(tmp_path):
    """A foreign file may give a name another unit."""
    other = {**p99(5e6).facts(), "unit": "ms"}
    new = measured(bench_of(tmp_path / "new", HEAD, yardstick(), line("a", other), line("b"), END))

    (row,) = compare([run_of(tmp_path / "base", p99(5e6))], [new]).rows

    assert row.change == "INVALID"
    assert row.why == "different figures of one name: ns (lower is better) and ms (lower is better)"


def test_zero_has_no_ratio(tmp_path):
    """A share that falls to 0 cannot be compared by a ratio; 0 on both sides is the same."""
    shares = [figure("overload.goodput_share", value, limit="none", load=3) for value in (0.5, 0.0)]
    half, none = (run_of(tmp_path / str(number), one) for number, one in enumerate(shares))
    again = run_of(tmp_path / "again", shares[1])

    assert (compare([half], [none]).change, compare([half], [none]).rows[0].why) == ("UNPROVEN", "there is no ratio to 0")
    assert compare([none], [again]).change == "SAME"


def test_several_runs_a_side_show_how_runs_differ(tmp_path):
    """Each run is sure of itself, but they differ by 4 %: one a side that is assumed to vary less proves too much."""
    base = [run_of(tmp_path / f"b{value}", best(float(value))) for value in (392, 400, 408)]
    new = [run_of(tmp_path / f"n{value}", best(float(value))) for value in (380, 388, 372)]

    assert compare(base[:1], new[2:], run_spread=0.005).change == "SLOWER"
    found = compare(base, new)
    assert found.change == "UNPROVEN"
    assert found.rows[0].runs == (3, 3)
    assert found.rows[0].base == pytest.approx((392 * 400 * 408) ** (1 / 3))


def test_a_run_that_is_not_a_result_does_not_count(tmp_path):
    """The others do."""
    base = [run_of(tmp_path / str(number), best(400.0 + number, valid=number > 0)) for number in range(4)]

    assert compare(base, [run_of(tmp_path / "new", best(401.0))]).rows[0].runs == (3, 1)


def refusal(base, new, **how):
    """Return the message of a comparison that is refused."""
    with pytest.raises(NotComparable) as refused:
        compare([base], [new], **how)
    return str(refused.value)


def test_what_was_measured_otherwise_is_refused(tmp_path):
    """The message names the two files, the option, and what to do."""
    base = run_of(tmp_path / "base", best(400.0))

    full = refusal(base, run_of(tmp_path / "full", best(400.0), quick=False))
    slo = refusal(base, run_of(tmp_path / "slo", best(400.0), slo_ns=5))

    assert full.endswith("bench.jsonl differ in the form (--quick): measure both in the same way")
    assert "--slo-p99-ms" in slo


def test_what_has_nothing_in_common_is_refused(tmp_path):
    """Nothing compared must not look like nothing changed."""
    base = run_of(tmp_path / "base", best(400.0))

    assert "no figure in common" in refusal(base, run_of(tmp_path / "new", p99(5e6)))
    assert "no figure of BASE matches opn.*" in refusal(base, base, patterns=["opn.*"])
    assert "there is no figure in" in refusal(run_of(tmp_path / "none"), base)
    assert compare([base], [run_of(tmp_path / "nothing")]).change == "INVALID"


def test_a_truncated_run_is_refused(tmp_path):
    """A killed bench is not a baseline; one that was interrupted is, and says what is missing."""
    base = run_of(tmp_path / "base", best(400.0))
    killed = measured(bench_of(tmp_path / "killed", HEAD, yardstick(), line("a", best(400.0))))
    early = END | {"complete": False, "reason": "interrupted", "names": ["a"]}
    ended = measured(bench_of(tmp_path / "early", HEAD, yardstick(), line("a", best(400.0)), early))

    assert refusal(killed, base) == f"{killed.where} is truncated: the run never got to its end; measure again"
    assert compare([base], [ended]).notes == (f"{ended.where} ended early, without b",)


def test_different_machines_are_refused(tmp_path):
    """With the facts that differ, and with what can be done; runs of one side have to come from one machine."""
    base = run_of(tmp_path / "base", best(400.0))
    other = run_of(tmp_path / "other", best(400.0), host=HOST | {"cpu": "B", "cores": 4})
    old = run_of(tmp_path / "old", best(400.0), host={"python": "3.11.7"})

    said = refusal(base, other)

    assert "one kind of machine (processor A and B; processors to use 2 and 4): measure both on one machine, or" in said
    assert "nothing is known of that of" in refusal(old, base)
    with pytest.raises(NotComparable, match=r"the runs of BASE come from different machines \(processor A and B\)"):
        compare([base, other], [base], correct=True)


def test_different_machines_cost_certainty(tmp_path):
    """What is 40 % slower where computing takes 10 % longer is slower; what is 8 % slower may be the machine."""
    stick = yardstick(1.1e6, 1e4, spread=1.0)
    elsewhere = {"host": HOST | {"cpu": "B"}, "stick": stick}
    base = run_of(tmp_path / "base", best(400.0, 1.001), stick=yardstick(1e6, 1e4, spread=1.0))

    hit = compare([base], [run_of(tmp_path / "hit", best(240.0, 1.001), **elsewhere)], correct=True, run_spread=0)
    same = compare([base], [run_of(tmp_path / "same", best(370.0, 1.001), **elsewhere)], correct=True, run_spread=0)

    assert (hit.change, same.change) == ("SLOWER", "UNPROVEN")
    ratio = same.rows[0].ratio
    assert (ratio.low, ratio.high) == pytest.approx((0.925, 0.925 * 1.1), rel=0.01)
    assert same.notes == ("different machines: processor A and B",)
    assert same.facts()["correction"]["most"] == pytest.approx(1.1)


def test_different_machines_without_yardsticks_cannot_be_corrected(tmp_path):
    """A check measures none; GPUs have none."""
    bare = yardstick() | {"figures": []}
    gpu = figure("gpu.tau_ns", 5e6, low=4.9e6, high=5.1e6, work="mlp", rows=8)
    base, other = (run_of(tmp_path / cpu, gpu, host=HOST | {"cpu": cpu}) for cpu in "AB")

    none = run_of(tmp_path / "none", best(1.0), stick=bare, host=HOST | {"cpu": "B"})
    assert "--correct needs the yardsticks of both machines" in refusal(base, none, correct=True)
    (row,) = compare([base], [other], correct=True).rows
    assert (row.change, row.why) == ("UNPROVEN", "no yardstick measures a GPU: compare on one machine")


def test_simulated_runs_may_come_from_anywhere(tmp_path):
    """In simulated time no machine makes a difference."""
    virtual = {"target": TARGET | {"sight": "virtual"}}
    base = run_of(tmp_path / "base", best(400.0, 1.0), **virtual)

    assert compare([base], [run_of(tmp_path / "new", best(400.0, 1.0), host={"python": "3.13"}, **virtual)]).change == "SAME"


def test_a_machine_in_another_state_is_noted(tmp_path):
    """It may explain a change, and does not excuse it."""
    base = run_of(tmp_path / "base", best(400.0))
    new = run_of(tmp_path / "new", best(360.0), stick=yardstick(compute_ns=1.5e6))

    found = compare([base], [new])

    assert found.change == "SLOWER"
    assert found.notes[0].startswith("the machine was not in the same state: computing took 1.50 times as long in NEW")
