"""Where the adapter says what: the file and line of a verb, or of a call, found in its source."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[2]
SHARED = (HERE / "targets" / "kit", HERE / "targets" / "stdio")  # of all adapters: no line to mend is there
INSTEAD = {"finish": ("close",), "release": ("submit",), "cancel": ("submit",)}  # where a verb would be, if it is not there


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        """Return it as editors and terminals understand it."""
        path = os.path.relpath(self.file)
        return f"{self.file if path.startswith('..') else path}:{self.line}"

    @property
    def text(self) -> str:
        """What stands there."""
        return linecache.getline(self.file, self.line).strip()


def place(part: str, target: object, deployment: object = None) -> Place | None:
    """Return where a part of an adapter is: a verb, or a name that it calls; None if its source cannot be read.

    Where the kit has the verb, it is the line of the adapter that calls the kit's class.
    """
    owners = [target] if part == "deploy" else [one for one in (deployment, target) if one is not None]
    for name in (part, *INSTEAD.get(part, ())):
        for owner in owners:
            if found := _own(_in_classes(name, owner)) or _own(_called(name, owner)):
                return found
    called = _called(type(deployment).__name__, target) if deployment is not None else None
    return _own(_class_of(deployment)) or _own(called) or _own(_class_of(target))


def _own(found: Place | None) -> Place | None:
    """Return this place unless it is in what all adapters share."""
    return None if found is None or any(folder in Path(found.file).parents for folder in SHARED) else found


def raised_at(frames: list[tuple[str, int]], target: object, deployment: object = None) -> Place | None:
    """Return the last of a traceback's frames, (file, line), that is in the adapter's own files, or outside Batchproof."""
    own = {found.file for one in (deployment, target) if one is not None and (found := _own(_class_of(one)))}
    mine = [frame for frame in frames if frame[0] in own] or [one for one in frames if HERE not in Path(one[0]).parents]
    return Place(*mine[-1]) if mine else None


def _classes(owner: object) -> Iterator[tuple[type, str, ast.ClassDef]]:
    """Yield each class of an object whose source can be read, with its file and its syntax tree."""
    for one in (owner if isinstance(owner, type) else type(owner)).__mro__:
        try:
            file, start = inspect.getsourcefile(one), inspect.getsourcelines(one)[1]
        except (OSError, TypeError):
            continue
        for node in ast.walk(_tree(file or "")):
            if (
                isinstance(node, ast.ClassDef)
                and min([node.lineno, *(mark.lineno for mark in node.decorator_list)]) == start
            ):
                yield one, file or "", node


def _tree(file: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(file)))


def _in_classes(name: str, owner: object) -> Place | None:
    """Return where a class defines or assigns this name; where it names another class, that one's `__init__`."""
    for one, file, tree in _classes(owner):
        value = vars(one).get(name)
        if isinstance(value, type) and (found := _in_classes("__init__", value) or _class_of(value)):
            return found
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                return Place(file, node.lineno)
            if isinstance(node, ast.Assign | ast.AnnAssign) and name in _assigned(node):
                return Place(file, node.lineno)
    return None


def _assigned(node: ast.Assign | ast.AnnAssign) -> set[str]:
    """Return the names and attributes that a statement sets."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    inner = [one for target in targets for one in ast.walk(target)]
    return {
        one.attr if isinstance(one, ast.Attribute) else one.id for one in inner if isinstance(one, ast.Attribute | ast.Name)
    }


def _called(name: str, owner: object) -> Place | None:
    """Return where this name is called: in the object's class, or else in its module."""
    found = list(_classes(owner))
    for tree, file in [*((tree, file) for _, file, tree in found), *((_tree(file), file) for _, file, _ in found[:1])]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                return Place(file, node.lineno)
    return None


def _class_of(owner: object) -> Place | None:
    for _, file, tree in _classes(owner):
        return Place(file, tree.lineno)
    return None
