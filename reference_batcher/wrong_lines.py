"""Wrong lines that nobody chose: every small change to a module, one at a time, in a fixed order.

The declared mutants are mistakes that somebody thought of. These are all mistakes of a few kinds: a comparison, an operator,
a constant, a branch, or a statement that is missing. Some change nothing that anybody can see.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

Change = Callable[[ast.AST], None]

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
}  # fmt: skip
CALLED = {"popleft": "pop", "append": "appendleft", "min": "max", "max": "min", "any": "all", "all": "any"}
BLOCKS = ("body", "orelse", "finalbody")
LEFT_OUT = (ast.Expr, ast.AugAssign, ast.Assign, ast.Break, ast.Continue, ast.Delete)


@dataclass(frozen=True)
class WrongLine:
    """One change. line: of the original. what: was changed. source: of the module with it, without comments."""

    line: int
    what: str
    source: str


@lru_cache(maxsize=32)
def wrong_lines(source: str) -> tuple[WrongLine, ...]:
    """Return all changes of a module's source that are not equal to it or to each other, in its order."""
    tree = ast.parse(source)
    seen, found = {ast.unparse(tree)}, []
    for place, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            changed = copy.deepcopy(tree)
            change(next(one for at, one in enumerate(ast.walk(changed)) if at == place))
            text = ast.unparse(changed)
            if text not in seen:
                seen.add(text)
                found.append(WrongLine(getattr(node, "lineno", 0), what, text))
    return tuple(sorted(found, key=lambda one: one.line))


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield what can be wrong with one node: in words, and as a change of its copy."""
    yield from _operators(node)
    yield from _values(node)
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        test = ast.unparse(node.test)
        yield f"never `{test}`", _with("test", ast.Constant(value=False))
        if not isinstance(node, ast.While):  # that one would never end
            yield f"always `{test}`", _with("test", ast.Constant(value=True))
    if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.FunctionDef):
        yield from _left_out(node)


def _operators(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=ops):
            yield from (_compared(at, op) for at, op in enumerate(ops) if type(op) in COMPARED)
        case ast.BoolOp(values=values):
            yield "`and` and `or` are mixed up", lambda one: setattr(one, "op", ast.Or() if _is_and(one) else ast.And())
            yield from ((f"without `{ast.unparse(value)}`", _without(at)) for at, value in enumerate(values))
        case ast.BinOp(op=op) if type(op) in CALCULATED:
            wrong = CALCULATED[type(op)]
            yield f"{wrong.__name__} instead of {type(op).__name__}", lambda one: setattr(one, "op", wrong())


def _values(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Constant(value=bool(value)):
            yield f"{not value} instead of {value}", _with("value", not value)
        case ast.Constant(value=int(value)):
            yield f"{value + 1} instead of {value}", _with("value", value + 1)
            if value > 0:
                yield f"{value - 1} instead of {value}", _with("value", value - 1)
        case ast.Attribute(attr=name) if name in CALLED:
            yield f"{CALLED[name]} instead of {name}", _with("attr", CALLED[name])
        case ast.Name(id=name, ctx=ast.Load()) if name in CALLED:
            yield f"{CALLED[name]} instead of {name}", _with("id", CALLED[name])


def _left_out(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield each statement of a block that can be missing: one after which no name lacks its value."""
    for block in BLOCKS:
        for at, one in enumerate(getattr(node, block, ())):
            said = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)  # a docstring
            named = isinstance(one, ast.Assign) and any(isinstance(target, ast.Name) for target in one.targets)
            if isinstance(one, LEFT_OUT) and not said and not named:
                yield f"without `{ast.unparse(one).splitlines()[0]}`", _instead(block, at)


def _compared(at: int, op: ast.cmpop) -> tuple[str, Change]:
    wrong = COMPARED[type(op)]

    def change(one: ast.AST) -> None:
        one.ops[at] = wrong()  # type: ignore[attr-defined]

    return f"{wrong.__name__} instead of {type(op).__name__}", change


def _is_and(node: ast.AST) -> bool:
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)


def _without(at: int) -> Change:
    return lambda one: one.values.pop(at)  # type: ignore[attr-defined]


def _with(field: str, value: object) -> Change:
    return lambda one: setattr(one, field, value)


def _instead(block: str, at: int) -> Change:
    def change(one: ast.AST) -> None:
        getattr(one, block)[at] = ast.Pass()

    return change
