"""`batchproof diff` for engines: what it says about mutants of the reference engine, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batchproof.commands.diff_engines import EngineDiff, generated
from batchproof.fixtures.driving.engine_case import EngineCase, common
from batchproof.fixtures.driving.engine_script import Ask, Run, TakeBack
from batchproof.fixtures.evidence.generations import Generations
from batchproof.host.sentinel import Sentinel
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.targets.engines.reference import CLAIMS, ContinuousTarget

Capture = pytest.CaptureFixture[str]
BOTH = common(CLAIMS, CLAIMS)


def rows(found: Generations) -> list[list[tuple[str, int, int]]]:
    """What each iteration computed."""
    return [
        sorted((found.known(row.serial), row.start, row.count) for row in iteration.rows) for iteration in found.iterations
    ]


NAMELESS = "serial 0"  # a row that never came to the name of its request


@pytest.mark.parametrize(
    ("mutant", "word", "kind"),
    [
        ("rows-plus-one", "breach", "limit"),
        ("newest-first", "breach", "order"),
        ("row-left-out", "breach", "left-out"),
        ("joins-late", "breach", "join"),
        ("texts-turned", "breach", "text"),
        ("abort-ignored", "breach", "step"),
        ("victim-newest", "breach", ""),
        ("chunks-never", "legal", ""),
        ("head-passed", "legal", ""),
        ("stop-is-length", "unexplained", ""),
    ],
)
def test_the_first_difference_of_a_mutant(mutant: str, word: str, kind: str) -> None:
    """It is the first iteration in which the mutant computes something else, and the word says what that is."""
    pair = EngineDiff(("one", "other"), [ContinuousTarget(), ContinuousTarget(mutant=mutant)], Sentinel())  # type: ignore[list-item]
    words = []
    for seed in range(1, 31):
        found, (one, other) = pair.compared(generated(seed, BOTH))
        words.append(found.word)
        seen = rows(one), rows(other)
        if any(row[0] == NAMELESS for rows_ in (*seen[0], *seen[1]) for row in rows_):
            continue  # it may be anybody's, so it is no difference
        most = max(map(len, seen))
        alike = next((at for at in range(most) if seen[0][at : at + 1] != seen[1][at : at + 1]), most)
        assert found.alike == alike
        assert all(side == 1 for side, _ in found.breaches)
        if found.word == word and kind in ("", *(wrong.kind for _, wrong in found.breaches)):
            return
    pytest.fail(f"no case of 30 shows {word}: {words}")


def test_the_same_engine_is_the_same(capfd: Capture, tmp_path: Path) -> None:
    """Nothing differs, and the end says how much was compared."""
    both = ("--target", "continuous", "--target", "continuous")
    status, out, _ = invoke(capfd, "diff", *both, "--count", 4, "--save", tmp_path)

    assert status == 0
    assert out.startswith("4 cases on continuous and continuous: 4 same; ")
    assert not list(tmp_path.iterdir())


def test_a_breach_is_shown_and_can_be_seen_again(capfd: Capture, tmp_path: Path) -> None:
    """With both pictures, a page, and a small case that shows it again."""
    both = ("--target", "continuous", "--target", "mutant:rows-plus-one")
    status, out, _ = invoke(capfd, "diff", *both, "--save", tmp_path)
    case = EngineCase.from_json(json.loads((tmp_path / "case.json").read_text()))
    page = (tmp_path / "diff.html").read_text()

    assert status == 1
    assert "mutant:rows-plus-one, iteration 0: " in out
    assert "^ iteration 0" in out
    assert "agreed    the texts and ends of all that nobody took back" in out
    assert len(case.script) == case.config.max_num_seqs + 1
    assert page.count('class="marked-column"') == 2
    assert '<g class="part" role="img"' in page or '<g class="end-of-prompt" role="img"' in page
    status, again, _ = invoke(capfd, "diff", *both, "--script", tmp_path / "case.json", "--save", tmp_path / "again")
    assert status == 1
    assert out.splitlines()[0].partition("(")[0] == again.splitlines()[0].partition("(")[0]


def test_a_legal_difference_is_told_and_is_not_a_failure(capfd: Capture, tmp_path: Path) -> None:
    """The exit status is 0, and the kinds are counted."""
    status, out, _ = invoke(
        capfd, "diff", "--target", "continuous", "--target", "mutant:chunks-never", "--count", 12, "--save", tmp_path
    )

    assert status == 0
    assert out.startswith("DIFFERENT  iteration ")
    assert "legal: budget: the rest of the token budget is used otherwise, or not at all" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--target", "continuous", "--target", "virtual"), "they have no case in common"),
        (("--target", "continuous", "--target", "continuous", "--sequences"), "--sequences is for dynamic batchers"),
        (("--target", "continuous", "--target", "continuous", "--script", "batcher.json"), "batcher.json is for dynamic"),
        (("--target", "virtual", "--target", "virtual", "--script", "engine.json"), "engine.json is a case for engines"),
        (("--target", "continuous", "--target", "continuous", "--script", "broken.json"), "not a case for engines"),
    ],
)
def test_what_does_not_go_together(
    capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    """One message, and the status of misuse."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "batcher.json").write_text('{"config": {}, "script": []}')
    case = EngineCase(EngineConfig(), (Ask("r0", 8, 2), Run(2), TakeBack("r0")))
    (tmp_path / "engine.json").write_text(json.dumps(case.to_json()))
    (tmp_path / "broken.json").write_text('{"config": {}, "script": [{"do": "Dance"}]}')
    status, _, err = invoke(capfd, "diff", *arguments)

    assert status == 2
    assert says in one_message(err)


def test_only_what_both_have_is_compared() -> None:
    """Blocks that both can have, no priorities where only one has them, and no stop tokens in two languages."""
    both = common(CLAIMS, {**CLAIMS, "block_size": 32, "request_priorities": False, "text": "graph", "cancel": False})

    assert (both["block_size"], both["request_priorities"], both["stop_tokens"]) == (32, False, False)
    assert not any(isinstance(step, TakeBack) for seed in range(30) for step in generated(seed, both).script)
    assert {generated(seed, both).config.block_size for seed in range(9)} == {32}
