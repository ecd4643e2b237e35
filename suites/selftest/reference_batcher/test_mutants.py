"""Who tests the tests: every mutant of the reference batcher is killed by the rules that it names, with the right message.

Here each mutant meets the rules that it names, and one of eight meets a sample of the rest, too. Most do not meet the slow
rules that they name, where others kill them too. All rules on all
mutants is what `batchproof mutants` runs, for about two hours of processor time, by an estimate.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from batchproof.commands import mutants as matrix
from batchproof.commands.mutants import Row, found, judged, print_matrix
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.reference_batcher.mutants import STEMS, Mutant, UnknownMutant, load, mutants
from batchproof.reports.causes import causes
from batchproof.targets import resolve
from batchproof.targets.protocol import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE = {"DB-SIZE-005", "DB-DELAY-003", "DB-DELAY-005", "DB-ORDER-001", "DB-TIMEOUT-004", "DB-FAIL-002",
          "CB-TEXT-001", "CB-END-001", "CB-LIMIT-001", "CB-JOIN-001", "CB-ORDER-001"}  # fmt: skip
TORCH = "PERF-MODEL-001"  # runs a real model
SLOW = (  # they take up to seconds each, and others kill first
    TORCH, "CB-LAW-", "CB-LIVE-003", "CB-LIVE-004", "CB-LIVE-008", "CB-TEXT-015", "CB-TEXT-013", "CB-PRIO-005",
    "DB-LAW-009", "SB-LIVE-006", "SB-LIVE-007", "SB-LIVE-009", "SB-LAW-001", "SB-DRIVE-001",
)  # fmt: skip
SHOWS_LATE = {"leaks": {"DB-*"}}  # wrong only after as many batches as the whole suite runs
SEVERAL_CAUSES = {  # their wrong line breaks rules of which none explains the other, or a more basic one than the first
    "preferred-in-requests", "preferred-at-least", "priority-fair", "cancelled-keeps-place", "failure-is-unavailable",
    "expired-as-full", "shape-with-rows", "pause-forgets", "pause-ends", "window-runs-freely", "window-by-slot",
    "cancel-takes-neighbour", "swells", "model-unasked", "chunks-never", "level-without-policy", "cancel-naps",
    "timeout-naps", "loses-among-many", "favours", "expired-runs", "limit-refused", "sequence-state-of-an-id",
    "state-lost-by-failure", "timeout-of-an-older-one", "leaks", "row-by-row",
}
JUDGED_ANYWAY = ("continuous",)  # by all rules, in the job for transformers
NIGHTLY = bool(os.environ.get("BATCHPROOF_NIGHTLY"))
BY_ONE = Mutant("size-by-one", "one row more", "core", "size:", "size + 1:", ("DB-SIZE-001",), "a batch of 5 rows")


def row(**fields: object) -> Row:
    """Return a row of the matrix in which everything is as declared."""
    said = {"DB-SIZE-001": "<= 4 rows | a batch of 5 rows | "}
    return Row(**{"mutant": "size-by-one", "what": "one row more", "killed_by": ("DB-SIZE-001",), "said": said,
                  "declared": ("DB-SIZE-001",), "message": "a batch of 5 rows", **fields})


@pytest.mark.parametrize("name", mutants())
def test_mutant_is_killed_as_declared(name: str) -> None:
    """Among the rules that judge a mutant, exactly those that it names fail, and the first says what is wrong."""
    mutant = mutants()[name]
    rest = set() if crc32(name.encode()) % 8 else SAMPLE
    whole = name in SHOWS_LATE or name in SEVERAL_CAUSES
    left_out = (TORCH,) if whole else SLOW
    kills = tuple(rule for rule in mutant.kills if rule == mutant.kills[0] or not rule.startswith(left_out))

    if TORCH in kills:
        pytest.importorskip("torch", reason="the extra `reference` (torch) is not installed")

    results = found(f"mutant:{name}", ",".join(SHOWS_LATE.get(name, rest) | set(kills)))
    said, follows = matrix.said(results), causes(results)
    unclear = {one["rule"] for one in results if one["verdict"] == "INCONCLUSIVE"}  # no failure, and so no cause
    roots = [rule for rule in said if rule not in follows and rule not in unclear - {kills[0]}]

    assert Row(name, mutant.what, tuple(said), kills, said, mutant.message).problem == ""
    assert (roots != [kills[0]]) == (name in SEVERAL_CAUSES), (
        f"not only {kills[0]} is a cause, but {roots}: see docs/decisions/0018-causes.md for `after` and `given`"
    )


@pytest.mark.parametrize("original", [name for name in matrix.ORIGINALS.values() if NIGHTLY or name not in JUDGED_ANYWAY])
def test_the_original_passes_everything(original: str) -> None:
    """The reference fails no rule, so a kill is due to the wrong line."""
    assert judged(original) == {}


@pytest.mark.parametrize("name", mutants())
def test_mutant_is_one_wrong_line(name: str) -> None:
    """The line of a mutant is in its file exactly once and differs from the wrong one; the mutant names its kills."""
    mutant = mutants()[name]
    source = (files("batchproof") / "reference_batcher" / f"{mutant.where}.py").read_text(encoding="utf-8")

    assert mutant.where in STEMS
    assert source.count(mutant.line) == 1
    assert mutant.wrong != mutant.line
    assert mutant.kills
    assert mutant.message


def test_no_two_mutants_are_the_same() -> None:
    """Every mutant has a wrong line and a description of its own."""
    changes = [(mutant.where, mutant.line, mutant.wrong) for mutant in mutants().values()]
    words = [mutant.what for mutant in mutants().values()]

    assert (len(set(changes)), len(set(words))) == (len(mutants()), len(mutants()))


def test_loading_a_mutant_leaves_the_original_alone() -> None:
    """A mutant is a module of its own: the original decides as before."""
    original, mutant = load(), load("limit-refused")

    from batchproof.reference_batcher import BatcherConfig
    from batchproof.reference_batcher.core import DynamicBatcher
    from batchproof.reference_batcher.decisions import Entry

    config = BatcherConfig(max_batch_size=4)
    cores = [DynamicBatcher, *(shell.Service.__init__.__globals__["core_of"] for shell in (original, mutant))]
    refusals = [core(config).enqueue(Entry(4, 0, None)) for core in cores]
    assert refusals[:2] == [None, None]
    assert "must be <= 4" in str(refusals[2])


def test_a_mutant_of_the_engine_is_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its family says which reference it is, and its scheduler has the wrong line, also if another module has it."""
    line, wrong = "self.references[block] += 1", "self.references[block] += 2"
    counts_twice = Mutant("counts-twice", "two", "continuous/blocks", line, wrong, ("CB-KV-001",), "", "continuous")
    monkeypatch.setattr("batchproof.reference_batcher.mutants.mutants", lambda: {"counts-twice": counts_twice})

    target = resolve("mutant:counts-twice")

    assert (target.info.discipline, target.info.reached) == ("continuous", "mutant:counts-twice")
    pools = [load(name, "continuous/scheduler").Scheduler(EngineConfig()).pool for name in ("counts-twice", "")]
    assert [(pool.take(1), pool.references[0]) for pool in pools] == [([0], 2), ([0], 1)]


@pytest.mark.parametrize("name", [name for name, mutant in mutants().items() if mutant.claims])
def test_without_its_wrong_line_it_keeps_its_claims(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A mutant that claims more than the reference fails for its wrong line, and not for the claim."""
    right = replace(mutants()[name], wrong=mutants()[name].line)
    monkeypatch.setattr("batchproof.reference_batcher.mutants.mutants", lambda: {name: right})

    results = found(f"mutant:{name}", ",".join(right.kills))

    assert {one["rule"]: one["verdict"] for one in results} == dict.fromkeys(right.kills, "PASS")


@pytest.mark.parametrize("refuse", [load, lambda name: resolve(f"mutant:{name}")], ids=["load", "target"])
def test_unknown_mutant_is_named(refuse: Callable[[str], object]) -> None:
    """A mutant that does not exist is refused with the names of those that do."""
    with pytest.raises((UnknownMutant, TargetError), match="unknown mutant 'tidy': choose from size-by-one, "):
        refuse("tidy")


@pytest.mark.parametrize("count", [0, 2], ids=["missing", "twice"])
def test_a_line_that_moved_is_noticed(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """A mutant with a line that is gone from the source, or occurs there twice, is an error and not the original."""
    line = {0: "no such line", 2: "self.draining = "}[count]
    lost = Mutant("lost", "is lost", "core", line, "pass", ("DB-SIZE-001",), "")
    monkeypatch.setattr("batchproof.reference_batcher.mutants.mutants", lambda: {"lost": lost})

    with pytest.raises(ValueError, match=f"its line stands {count} times in core.py"):
        load("lost")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, ""),
        ({"killed_by": ()}, "killed by none, declared DB-SIZE-001"),
        ({"killed_by": ("DB-SIZE-001", "DB-SIZE-002")}, "killed by DB-SIZE-001, DB-SIZE-002, declared DB-SIZE-001"),
        ({"declared": (), "killed_by": ()}, ""),
        ({"message": "a batch of 6 rows"}, "DB-SIZE-001 said '<= 4 rows | a batch of 5 rows | ', not 'a batch of 6 rows'"),
    ],
    ids=["as declared", "survives", "one more", "nothing declared", "other words"],
)
def test_a_row_knows_whether_it_is_as_declared(fields: dict[str, object], problem: str) -> None:
    """It is when the kill set is exact and the first rule says what it should."""
    assert row(**fields).problem == problem


@pytest.mark.parametrize(("kills", "status"), [(("DB-SIZE-001",), 0), (("DB-SIZE-002",), 1)], ids=["exact", "not exact"])
def test_matrix_says_whether_it_is_as_declared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kills: tuple[str, ...], status: int
) -> None:
    """`batchproof mutants` is 0 if all kill sets are exact; if not, it is 1 and names the row."""
    said = {"mutant:size-by-one": {"DB-SIZE-001": "a batch of 5 rows"}, "virtual": {}}
    monkeypatch.setattr(matrix, "mutants", lambda: {"size-by-one": Mutant(**{**vars(BY_ONE), "kills": kills})})
    monkeypatch.setattr(matrix, "judged", lambda target, _only="": said[target])

    assert print_matrix("json") == status

    printed = capsys.readouterr()
    assert [one["mutant"] for one in json.loads(printed.out)] == ["size-by-one"]
    assert ("NOT AS DECLARED  size-by-one: killed by DB-SIZE-001, declared DB-SIZE-002" in printed.err) == bool(status)


def test_the_documented_matrix_is_up_to_date() -> None:
    """docs/mutants.md is what `batchproof mutants --markdown` prints for kill sets that are as declared."""
    page = Path(__file__).parents[3] / "docs" / "mutants.md"
    if not page.is_file():
        pytest.skip("no docs/mutants.md here: the documentation is not installed")

    table = [row(mutant=m.name, what=m.what, killed_by=in_order(m.kills), declared=m.kills) for m in mutants().values()]

    again = "write it anew: batchproof mutants --markdown > docs/mutants.md"
    assert page.read_text(encoding="utf-8").rstrip("\n") == matrix.markdown(table), again


def in_order(kills: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rules of a kill set in the catalogue's order, as a report has them."""
    from batchproof.fixtures.judging.catalogue import rules

    return tuple(rule for rule in rules() if rule in kills)
