"""Load in phases, several loads at once, and the fate of a part of the requests."""

from batchproof.load import phases
from batchproof.load.samples import OUTCOMES
from batchproof.load.schedule import constant
from batchproof.load.workload import MS
from batchproof.suites.selftest.samples import by_hand

FULL = OUTCOMES.index("full")


def test_phases_can_have_the_same_arrivals():
    """They are shifted by the phase, in one schedule."""
    parts = phases.phases(("before", 1.0, 50.0), ("after", 1.0, 50.0))
    due = phases.schedule(parts, 3, alike=True).due_ns
    half = due.size // 2
    assert (due[half:] - due[:half] == 1_000 * MS).all()


def test_merged_schedules_say_which_load_an_arrival_belongs_to():
    """They are in the order of time; arrivals at one time keep the order of the loads."""
    both, whose = phases.merged(constant(10, 0.3), constant(5, 0.3))
    assert both.due_ns.tolist() == [0, 0, 100 * MS, 200 * MS, 200 * MS]
    assert whose.tolist() == [0, 1, 0, 0, 1]


def test_a_refusal_counts_as_late_and_not_as_waiting():
    """A refused request counts against attainment and p99, but not among the requests in the queue."""
    seen = by_hand([0, 1, 2, 3], [4, 5, 2, None], [0, 0, FULL, len(OUTCOMES) - 1])
    found = phases.service(seen, 4 * MS, 2.0)
    assert (found.attainment, found.goodput, found.p50_ns, found.p99_ns) == (0.5, 1.0, 4 * MS, None)
    assert found.answered_p99_ns == 4 * MS
    assert found.outcomes == {"answered": 2, "full": 1, "unanswered": 1}
    assert found.unanswered == 2
    assert phases.most_inside(seen) == 2
