"""Mutants: the reference batcher with one wrong line each, declared in `mutants.toml` and, by family, `mutants_*.toml`.

A mutant is the source of one of the modules in `STEMS` with one line replaced, compiled together with the other ones into
modules of its own. The original is not changed. A mutant runs in the virtual-time shell; one of the family `continuous` is
a mutant of the reference engine, whose modules are in `continuous/`. Besides the declared ones, there is `core#17` with the
17th of the `wrong_lines` of `core`, and so on.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from .wrong_lines import wrong_lines

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

CORE = ("request_queue", "lookahead", "strategy", "core", "sequence_slots", "direct", "oldest", "disciplines")
SHELL = ("execution", "cache", "ordering", "statistics", "sequence_inputs", "service", "virtual", "modules")
ENGINE = ("continuous/requests", "continuous/blocks", "continuous/scheduler")
SEQUENCES = ("sequence_slots", "direct", "oldest", "sequence_inputs")
STEMS = (*CORE, *SHELL, *ENGINE)
FAMILIES = ("sequence", "custom", "deployment", "continuous")  # of rules, in the catalogue's order
NAMED = 3  # of all mutants, for someone who has named none of them


class UnknownMutant(ValueError):
    """No mutant has this name."""


@dataclass(frozen=True)
class Mutant:
    """One wrong line.

    what: the mistake, in a few words. where: the module, as a path below this folder. line: text that occurs in it exactly
    once. wrong: what stands there instead. kills: exactly the rules that must fail. message: a part of what the first of
    them must say. family: of the rules that it is there for; "" for those about the dynamic batcher. claims: what a mutant
    of the engine claims besides what the reference does, for the drives that only engines with such a claim meet.
    """

    name: str
    what: str
    where: str
    line: str
    wrong: str
    kills: tuple[str, ...]
    message: str
    family: str = ""
    claims: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def discipline(self) -> str:
        """The kind of batching that its reference does: `dynamic` or `continuous`."""
        return "continuous" if self.family == "continuous" else "dynamic"


@cache
def mutants() -> Mapping[str, Mutant]:
    """Return every mutant by name, in the order of the files; ValueError if two have the same name."""
    found: dict[str, Mutant] = {}
    for file in mutant_files():
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
            if name in found:
                raise ValueError(f"{file}: there is another mutant {name}")
            family = file.name.removeprefix("mutants").removesuffix(".toml").removeprefix("_")
            found[name] = _mutant(name, {**table, "family": family})
    return found


def mutant_files() -> tuple[Traversable, ...]:
    """Return the files that declare mutants: those of the dynamic batcher, and those of the families that there are."""
    here = files(__package__)
    families = (here.joinpath(f"mutants_{family}.toml") for family in FAMILIES)
    return (here.joinpath("mutants.toml"), *(file for file in families if file.is_file()))


def _mutant(name: str, table: dict[str, Any]) -> Mutant:
    return Mutant(**{**table, "name": name, "kills": tuple(table["kills"])})


def mutant_of(name: str) -> Mutant:
    """Return the mutant of this name, which is declared, or made by `wrong_lines`; UnknownMutant if there is none."""
    if name in mutants():
        return mutants()[name]
    stem, _, number = name.partition("#")
    if stem not in STEMS or not number.isdecimal():
        near = get_close_matches(name, mutants(), 1)
        meant = f"did you mean '{near[0]}'? Choose" if near else "choose"
        some = f"{', '.join(list(mutants())[:NAMED])} and {len(mutants()) - NAMED} more (docs/mutants.md)"
        raise UnknownMutant(f"unknown mutant '{name}': {meant} from {some}")
    source = _source(stem)
    if not 0 < int(number) <= count_of(stem):
        raise UnknownMutant(f"unknown mutant '{name}': choose from {stem}#1 to {stem}#{count_of(stem)}")
    one = wrong_lines(source)[int(number) - 1]
    return Mutant(name, f"line {one.line}: {one.what}", stem, source, one.source, (), "", _family(stem))


def count_of(stem: str) -> int:
    """Return how many wrong lines a module has: `stem#1` to `stem#N` are mutants."""
    return len(wrong_lines(_source(stem)))


def _family(stem: str) -> str:
    return "continuous" if stem in ENGINE else "sequence" if stem in SEQUENCES else ""


def _source(stem: str) -> str:
    return files(__package__).joinpath(f"{stem}.py").read_text(encoding="utf-8")


def load(name: str = "", shell: str = "virtual") -> ModuleType:
    """Return the module with this shell of a mutant, or of the original if the name is empty.

    UnknownMutant if no mutant has that name; ValueError if its line does not occur in the module exactly once.
    """
    mutant = mutant_of(name) if name else None
    modules = {stem: _compile(stem, mutant) for stem in STEMS}
    for module in modules.values():
        _link(module, modules)
    return modules[shell]


def _link(module: ModuleType, modules: Mapping[str, ModuleType]) -> None:
    """Replace what a module imported from an original module by what the mutant's own module has."""
    for name, value in list(vars(module).items()):
        home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
        package, _, inner = str(home).partition(f"{__package__}.")
        stem = inner.replace(".", "/")
        if not package and modules.get(stem, module) is not module:
            vars(module)[name] = modules[stem] if isinstance(value, ModuleType) else vars(modules[stem])[name]


def _compile(stem: str, mutant: Mutant | None) -> ModuleType:
    path, source = files(__package__).joinpath(f"{stem}.py"), _source(stem)
    if mutant and mutant.where == stem:
        if source.count(mutant.line) != 1:
            raise ValueError(f"mutant {mutant.name}: its line stands {source.count(mutant.line)} times in {stem}.py")
        source = source.replace(mutant.line, mutant.wrong)
    module = ModuleType(f"{__package__}.{stem.replace('/', '.')}")
    vars(module).update(__package__=module.__name__.rpartition(".")[0], __file__=str(path))
    exec(_code(source, str(path)), vars(module))  # noqa: S102 - our own source, with one line of ours replaced
    return module


@lru_cache(maxsize=2 * len(STEMS))
def _code(source: str, path: str) -> CodeType:
    """Compile once what most mutants share."""
    code: CodeType = compile(source, path, "exec")
    return code
