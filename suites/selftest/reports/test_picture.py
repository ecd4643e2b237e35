"""Failures under test: the picture of a timeline, and the text around it."""

from __future__ import annotations

import shlex
from dataclasses import replace

from batchproof.fixtures.evidence.timeline import Execution, Sent, Timeline
from batchproof.reports import failure
from batchproof.reports.picture import draw
from batchproof.suites.selftest.report_lines import (
    CONFIG,
    DELAY,
    FAILURE,
    HOSTILE,
    LINES,
    MS,
    REARMED,
    RESULTS,
    TARGET,
    attempt,
    data,
    header,
    result,
)
from batchproof.targets.witness.probe import Payload

PICTURE = """\
r0 |q--------------------------------------M>|
r1 |         q-----------------------------M>|
r2 |                   q-------------------M>|
    +---------+---------+---------+----------
ms  0         100       200       300"""


def test_picture_is_exact() -> None:
    """A request is a line with letters for sent, waiting, entering the model, in the model, and answered."""
    assert draw(data(REARMED), width=46) == PICTURE


def test_picture_shows_refused_failed_and_unanswered_requests() -> None:
    """A refusal is an x with its kind, and so is a failure. A request that was never answered stays open."""
    requests = (
        Sent("plug", 0, Payload(), 0, 40 * MS, kind="failed"),
        Sent("r0", 1, Payload(rows=9), 20 * MS, 20 * MS, kind="invalid"),
        Sent("r1", 2, Payload(), 20 * MS),
    )
    timeline = Timeline(CONFIG, requests, (Execution(0, 1, (0,), (1,), 10 * MS, 30 * MS),), {"end": 90 * MS})
    assert draw(data(timeline), width=48).splitlines()[:3] == [
        "plug |q---M==========----x     | failed",
        "r0   |         qx              | 9 rows, invalid",
        "r1   |         q--------------?|",
    ]


def test_picture_numbers_batches_where_time_does_not_tell() -> None:
    """Under a simulated clock everything may happen at one time. The picture then shows who was in which batch."""
    requests = tuple(Sent(f"r{i}", i, Payload(), 5, 5) for i in range(3))
    runs = (Execution(0, 1, (0, 1), (1, 1), 5, 5), Execution(0, 2, (1, 2), (1, 1), 5, 5))
    assert draw(data(Timeline(CONFIG, requests, runs))).splitlines() == [
        "r0 |qM>| batch 1",
        "r1 |qM>| batch 1 and 2",
        "r2 |qM>| batch 2",
        "(all at the same moment)",
    ]


def test_picture_keeps_to_client_times_where_clocks_do_not_compare() -> None:
    """Times of the model are not drawn on the client's axis unless the clocks are the same."""
    text = draw(data(replace(REARMED, same_clock=False)))
    assert not [letter for letter in "M=" if letter in text]
    assert text.endswith("only the client's times are drawn)")


def test_picture_keeps_the_first_requests_and_the_width() -> None:
    """If there are many requests, the first 16 are drawn, within 100 columns."""
    many = Timeline(CONFIG, tuple(Sent(f"r{i}", i, Payload(), i, 5 * i, "expired") for i in range(40)))
    lines = draw(data(many)).splitlines()
    assert lines[16] == "... and 24 more"
    assert max(map(len, lines)) <= 100


def test_picture_shows_whom_it_is_about() -> None:
    """Far from the first requests, on the scale of what is drawn, with the number that its batch has among all."""
    requests = tuple(Sent(f"r{at}", at, Payload(), at * MS, (at + 4) * MS) for at in range(200))
    runs = tuple(Execution(0, at, (at, at + 1), (1, 1), (at + 2) * MS, (at + 3) * MS) for at in range(0, 200, 2))

    lines = draw(data(Timeline(CONFIG, requests, runs)), 60, 4, about=["r170"]).splitlines()

    assert [line.split()[0] for line in lines[:4]] == ["r168", "r169", "r170", "r171"]
    assert [line.rpartition("| ")[2] for line in lines[:4]] == ["batch 85", "batch 85", "batch 86", "batch 86"]
    assert lines[4] == "... and 196 more"
    assert lines[6].split() == ["ms", "0", "2", "4", "6"]


def test_failure_is_exact() -> None:
    """A failure shows the requirement, number against number, the picture, hints and commands."""
    assert failure.text(RESULTS[-1], LINES[1:4], header()) == FAILURE


def test_failure_gives_commands_that_work_from_here() -> None:
    """With the report's folder given, the replay command finds the bundle, and words from outside are quoted."""
    evil = "grpc://host:1; rm -rf ~"
    command = shlex.join(["batchproof", "check", "--target", evil, "--patience", "quick"])
    text = failure.text(RESULTS[-1], (), header(command=command), folder="out/my run")
    assert "--replay 'out/my run/bundles/db-delay-004-1729.zip'" in text
    assert "--target 'grpc://host:1; rm -rf ~' --patience quick --rules" in text
    for command in ("rm -rf ~", "batchproof check 'unbalanced", ""):
        text = failure.text(RESULTS[-1], (), header(command=command, target=TARGET | {"reached": evil}))
        assert " batchproof check --target 'grpc://host:1; rm -rf ~' --rules" in text


def test_failure_replaces_the_rules_and_the_seed_of_its_run() -> None:
    """The command of the run has its own; the one to copy names this rule and the seed of the attempt that decided."""
    command = "batchproof check --target triton --rules 'DB-*' --patience quick --seed 7"
    text = failure.text(RESULTS[-1], LINES[1:4], header(command=command, seed=7))

    assert f"  batchproof check --target triton --patience quick --rules {DELAY} --seed 1729" in text


def test_failure_shows_the_first_problems_of_the_rig() -> None:
    """Those that follow are counted: one plug that never entered leaves every queue behind it empty."""
    problems = [f"the queue never showed {count} requests" for count in range(9)]
    tries = [attempt(DELAY, "ERROR") | {"picture": [], "problems": problems}]
    text = failure.text(result(DELAY, "ERROR"), tries, header())

    assert "  rig       the queue never showed 0 requests\n" in text
    assert "never showed 2 requests\n            and 6 more\n" in text


def test_failure_names_the_rule_whose_drive_it_was() -> None:
    """It has to be driven again, too, whatever its family."""
    found = result("SB-DRIVE-001", "FAIL", actual="turn: late (in a drive of SB-IDLE-001, which does not tell of it)")

    assert "--rules SB-DRIVE-001,SB-IDLE-001 " in failure.text(found, (), header())


def test_failure_is_safe_to_print() -> None:
    """Escapes are removed, a long message is cut, all attempts are named, and a picture from outside is cut to size."""
    picture = {"picture": [HOSTILE, "a\nb", "w" * 200]}
    tries = [attempt(DELAY, "INCONCLUSIVE"), attempt(DELAY, "FAIL", number=2) | picture]
    text = failure.text(result(DELAY, "FAIL", actual=HOSTILE + "y" * 9000, reason="z\n" * 99), tries, header())
    assert not [bad for bad in "\x00\x1b\u202e" if bad in text]
    assert max(map(len, text.splitlines())) <= 100
    assert len(text) < 2000
    parts = [" more characters)", "  attempts  INCONCLUSIVE, FAIL\n", "\n  a b\n"]
    assert [part for part in parts if part not in text] == []
