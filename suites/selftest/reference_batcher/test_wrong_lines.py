"""Wrong lines that a program makes: each is another program, and its number stays that of the same change."""

from __future__ import annotations

import ast

import pytest

from batchproof.reference_batcher.mutants import STEMS, UnknownMutant, count_of, load, mutant_of
from batchproof.reference_batcher.wrong_lines import wrong_lines
from batchproof.targets import resolve
from batchproof.targets.protocol import TargetError

SOURCE = '''
def largest(values, limit=3):
    """Return the largest that is below a limit."""
    best = None
    for value in values:
        if value < limit and (best is None or value > best):
            best = value
            values.remove(value)
    return best if best is not None else limit - 1
'''


def test_each_kind_of_mistake_is_made() -> None:
    """Comparisons, operators, constants, branches, and statements that are missing."""
    said = [one.what for one in wrong_lines(SOURCE)]

    assert said == [
        "4 instead of 3",
        "2 instead of 3",
        "never `value < limit and (best is None or value > best)`",
        "always `value < limit and (best is None or value > best)`",
        "without `values.remove(value)`",
        "`and` and `or` are mixed up",
        "without `value < limit`",
        "without `best is None or value > best`",
        "LtE instead of Lt",
        "`and` and `or` are mixed up",
        "without `best is None`",
        "without `value > best`",
        "IsNot instead of Is",
        "GtE instead of Gt",
        "never `best is not None`",
        "always `best is not None`",
        "Is instead of IsNot",
        "Add instead of Sub",
        "2 instead of 1",
        "0 instead of 1",
    ]


@pytest.mark.parametrize("module", ["request_queue", "direct", "continuous/blocks"])
def test_each_wrong_line_is_another_program(module: str) -> None:
    """They differ from the module and from each other, and all can be compiled."""
    sources = [mutant_of(f"{module}#{number}").wrong for number in range(1, count_of(module) + 1)]

    assert len({ast.dump(compile(one, module, "exec", ast.PyCF_ONLY_AST)) for one in sources}) == len(sources) > 40
    assert ast.unparse(ast.parse(mutant_of(f"{module}#1").line)) not in sources


def test_a_wrong_line_is_a_target_of_its_kind() -> None:
    """A module of the engine makes an engine, one of sequences keeps their claims, and the original is not changed."""
    engine, sequences, dynamic = (resolve(f"mutant:{name}#1").info for name in ("continuous/blocks", "direct", "core"))

    assert (engine.discipline, sequences.discipline, dynamic.discipline) == ("continuous", "dynamic", "dynamic")
    assert sequences.claims["sequences"] is not False
    assert dynamic.claims["sequences"] is False
    assert load("core#1").VirtualBatcher is not load().VirtualBatcher


@pytest.mark.parametrize(
    ("name", "said"),
    [("core#0", "core#1 to core#"), ("core#99999", "core#1 to core#"), ("corex#1", "size-by-one, "),
     ("core#", "size-by-one, "), ("core#-1", "size-by-one, ")],
)  # fmt: skip
def test_a_number_that_no_wrong_line_has_is_refused(name: str, said: str) -> None:
    """The message says which numbers there are."""
    assert "core" in STEMS
    for refuse in (mutant_of, lambda one: resolve(f"mutant:{one}")):
        with pytest.raises((UnknownMutant, TargetError), match=f"unknown mutant '{name}': choose from {said}"):
            refuse(name)
