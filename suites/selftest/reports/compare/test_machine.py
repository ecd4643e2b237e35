"""Machines: what tells them apart, and what a difference between them may explain."""

import pytest

from batchproof.reports.compare.machine import Correction, correction, differences, drift, known, simulated, yardsticks
from batchproof.reports.figures import Figure
from batchproof.suites.selftest.runs import HOST, TARGET, best, run_of, yardstick


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cpu": "B"}, "processor A and B"),
        ({"cores": 1}, "processors to use 2 and 1"),
        ({"kernel": "6.9"}, "kernel 6.8 and 6.9"),
        ({"memory": "32 GiB"}, "memory 16 GiB and 32 GiB"),
        ({"python": "3.12.1"}, "Python 3.11.7 and 3.12.1"),
        ({"awake": True}, "kept awake no and yes"),
        ({"torch": "2.2"}, "torch unknown and 2.2"),
        ({"cpu": "\x1b[31mB\n" + "x" * 900}, "processor A and B"),
    ],
)
def test_every_fact_that_matters_tells_machines_apart(changed, said):
    """The message names what differs, in one line, whatever the file says."""
    (found,) = differences(HOST, HOST | changed)

    assert found.startswith(said)
    assert "\n" not in found
    assert len(found) < 600


def test_what_does_not_matter_does_not():
    """Facts that this version does not know are left alone."""
    assert differences(HOST, HOST | {"name": "elsewhere"}) == ()
    assert known(HOST)
    assert not known({"python": "3.11.7"})


def test_simulated_runs_have_no_machine(tmp_path):
    """Unless a torch model was timed alongside them."""
    virtual = {"target": TARGET | {"sight": "virtual"}}

    assert simulated(run_of(tmp_path / "1", best(400.0), **virtual))
    assert not simulated(run_of(tmp_path / "2", best(400.0)))
    assert not simulated(run_of(tmp_path / "3", best(400.0), **virtual, works=["accelerator", "mlp"]))


def test_the_yardsticks_of_several_runs_are_bounded_together(tmp_path):
    """The least lower bound and the greatest upper one; one run without a yardstick leaves none."""
    runs = [run_of(tmp_path / str(ns), best(400.0), stick=yardstick(compute_ns=ns, spread=1.1)) for ns in (1e6, 2e6)]

    assert yardsticks(runs)["host.compute_ns"] == pytest.approx((1e6 / 1.1, 2.2e6))
    assert yardsticks([*runs, run_of(tmp_path / "none", best(400.0), stick=yardstick(spread=1) | {"figures": []})]) == {}


@pytest.mark.parametrize("ns", [0.001, 1e12, 1e300])
def test_a_yardstick_that_no_host_can_have_is_left_out(tmp_path, ns):
    """It could explain whatever a hostile file wants it to."""
    odd = run_of(tmp_path / "odd", best(400.0), stick=yardstick(compute_ns=ns))

    assert set(yardsticks([odd])) == {"host.handover_ns"}
    assert correction([odd], [odd]) is None
    assert list(drift([odd], [odd], 0.05)) == []


def test_a_difference_explains_what_lies_between_nothing_and_the_greatest_yardstick(tmp_path):
    """Computing takes 0.5 to 0.6 times as long, waking up 1.1 to 1.3 times: a time may change by 0.5 to 1.3."""
    base = run_of(tmp_path / "1", best(400.0), stick=yardstick(1e6, 1e4, spread=1.0))
    new = run_of(tmp_path / "2", best(400.0), stick=yardstick(0.55e6, 1.2e4, spread=12 / 11))

    found = correction([base], [new])

    assert (found.least, found.most) == pytest.approx((0.55 * 11 / 12, 1.2 * 12 / 11))
    assert found.parts == ("computing 0.50 to 0.60", "waking up 1.10 to 1.31")
    assert correction([base], [run_of(tmp_path / "3", best(1.0), stick=yardstick() | {"figures": []})]) is None


@pytest.mark.parametrize(
    ("unit", "between"), [("ns", (0.5, 1.25)), ("rows/s", (0.8, 2.0)), ("1", (0.4, 2.5)), ("per million", (0.5, 1.25))]
)
def test_rates_change_the_other_way_round_and_ratios_both_ways(unit, between):
    """A ratio of two times may have one that changes and one that does not."""
    figure = Figure("a", 1.0, unit, "lower")

    assert Correction(0.5, 1.25).explains(figure) == pytest.approx(between)
    assert Correction().covers(figure)
    assert not Correction().covers(Figure("gpu.tau_ns", 1.0, "ns", "lower"))


def test_a_machine_in_another_state_is_told(tmp_path):
    """By more than the margin, and in words."""
    base = run_of(tmp_path / "1", best(400.0))
    slow = run_of(tmp_path / "2", best(400.0), stick=yardstick(compute_ns=2e6))

    assert list(drift([base], [base], 0.05)) == []
    assert list(drift([base], [slow], 0.05)) == ["computing took 2.00 times as long in NEW (1.96 to 2.04)"]
