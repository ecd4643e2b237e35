"""Asks engines what they do where documentation is silent: `what_happens_when.py TARGET...` prints a table a question.

Each question is a short script on an engine of its own, and the answer is what was seen. Nothing is judged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from batchproof.fixtures.driving.generating import Generating
from batchproof.fixtures.evidence.generations import Asked, Generations
from batchproof.fixtures.judging.engine_fit import engine_config
from batchproof.targets import resolve
from batchproof.targets.claims import noun_of
from batchproof.targets.protocol import TargetError, Unsupported
from batchproof.targets.witness.languages import language_named

WAIT_NS = 3_000_000_000
SHOWN = 90
Open = Callable[..., Generating]
QUESTIONS: dict[str, Callable[[Open], str]] = {}


class NoStalls:
    """Nothing here is judged by a clock."""

    def since(self, start_ns: int) -> tuple[Any, ...]:
        """Return nothing."""
        del start_ns
        return ()


def question(text: str) -> Callable[[Callable[[Open], str]], Callable[[Open], str]]:
    """Add a question to the table."""

    def add(ask: Callable[[Open], str]) -> Callable[[Open], str]:
        QUESTIONS[text] = ask
        return ask

    return add


def short(text: str) -> str:
    """Return the beginning of an engine's message, without the place in its source."""
    first = text.partition("\n")[0].partition(" failed at ")[0]
    return first if len(first) <= SHOWN else f"{first[:SHOWN].rpartition(' ')[0]} ..."


def fate(seen: Generations, one: Asked) -> str:
    """Return how a request ended, and with how much text."""
    if one.refused:
        return f"refused: {next(short(end.text) for end in one.ends if end.reason == 'refused')}"
    right = language_named(seen.text).continuation(one.prompt, len(one.text()))
    wrong = "" if one.text() == right else ", a wrong text"
    said = ", ".join(f"'{end.reason}'" for end in one.ends) or "no end"
    why = next((f": {short(end.text)}" for end in one.ends if end.text), "")
    tokens = "1 token" if len(one.text()) == 1 else f"{len(one.text())} tokens"
    return f"{tokens}{wrong}, {said}{why}"


def order(seen: Generations, *names: str) -> list[str]:
    """Return the names in the order in which the requests first took part, or got their first token."""
    first = {name: next((place for place, _ in seen.rows(seen[name])), 10**9) for name in names}
    if not seen.iterations:
        first = {name: seen[name].pieces[0].at if seen[name].pieces else 10**9 for name in names}
    return sorted(names, key=lambda name: first[name])


def victims(seen: Generations) -> list[str]:
    """Return the requests of which something was computed twice, in that order."""
    computed: dict[int, int] = {}
    found = []
    for iteration in seen.iterations:
        for row in iteration.rows:
            if row.start < computed.get(row.serial, 0):
                found.append(seen.known(row.serial))
            computed[row.serial] = row.stop
    return found


@question("The head of the queue does not fit yet, and a small request behind it would")
def head(open_engine: Open) -> str:
    """A request holds half of the cache, the head needs three quarters."""
    run = open_engine(blocks=8)
    run.send("holder", length=4 * run.block - 8, max_tokens=24)
    run.until_running("holder")
    run.send("head", length=6 * run.block, max_tokens=4)
    run.send("small", max_tokens=4)
    seen = run.generations()
    first = order(seen, "head", "small")[0]
    overlap = seen["holder"].ended_at or 0
    begins = seen.rows(seen[first])[0][0] if seen.iterations else (seen[first].pieces or [seen["holder"].pieces[0]])[0].at
    when = "while the holder still runs" if begins < overlap else "after the holder has ended"
    return f"the {'small one passes it' if first == 'small' else 'head goes first, and holds the small one back'}, {when}"


@question("Requests of equal priority wait")
def equals(open_engine: Open) -> str:
    """Three requests with one priority behind one that runs."""
    run = open_engine(seqs=1, policy="priority")
    run.send("plug", max_tokens=6)
    run.until_running("plug")
    run.send("c", "a", "b", priority=5, max_tokens=2)
    got = order(run.generations(), "c", "a", "b")
    return "in the order of their arrival" if got == ["c", "a", "b"] else f"sent c, a, b, served {', '.join(got)}"


@question("A request of higher priority arrives, and those that run have every place")
def urgent(open_engine: Open) -> str:
    """One place, taken by a long text of the lowest priority."""
    run = open_engine(seqs=1, policy="priority")
    run.send("plug", max_tokens=20, priority=9)
    run.until_got("plug", 2)
    run.send("urgent", max_tokens=2, priority=0)
    seen = run.generations()
    if not seen["plug"].ends or not seen["urgent"].ends:
        return "not all of them ended"
    first = min(seen.requests, key=lambda one: one.ends[0].ns).name
    return "it waits until one has ended" if first == "plug" else "it displaces one that runs"


def full(open_engine: Open, priorities: tuple[int, int, int], **sizes: Any) -> str:
    """Three requests that arrive one after another grow until the cache is full."""
    run = open_engine(blocks=8, **sizes)
    for name, priority in zip(("first", "second", "third"), priorities, strict=True):
        run.send(name, length=2 * run.block, max_tokens=2 * run.block, priority=priority)
        run.until_running(name)
    seen = run.generations()
    fates = {one.name: fate(seen, one) for one in seen.requests if not one.served}
    lost = f"; not served: {fates}" if fates else "; all are served"
    if not seen.iterations:
        return f"not seen{lost}"
    return f"computed again: {', '.join(victims(seen)) or 'none'}{lost}"


@question("The KV cache is full: who is preempted, first come first served")
def victim(open_engine: Open) -> str:
    """Equal requests."""
    return full(open_engine, (0, 0, 0))


@question("The KV cache is full: who is preempted, where the first has the lowest priority")
def low_victim(open_engine: Open) -> str:
    """The first request comes last by its priority."""
    return full(open_engine, (9, 0, 0), policy="priority")


def alone(open_engine: Open, length: int | None, max_tokens: int) -> str:
    """One request and another behind it. length: of its prompt, from the edge of the context; None: no prompt."""
    run = open_engine()
    if length is None:
        run.send("one", prompt=(), max_tokens=max_tokens)
    else:
        run.send("one", length=run.config.max_model_len + length if length <= 1 else length, max_tokens=max_tokens)
    run.step(2)
    run.send("other", max_tokens=3)
    seen = run.generations()
    return (
        fate(seen, seen["one"])
        + ("" if seen["other"].served or seen.gone else "; the next request is NOT served")
        + (f"; the engine is gone: {short(seen.gone)}" if seen.gone else "")
    )


@question("A prompt of 3 tokens less than the longest text, and 8 tokens asked for")
def edge(open_engine: Open) -> str:
    """The edge of the context comes before the limit."""
    return alone(open_engine, -3, 8)


@question("A prompt as long as the longest text")
def at_edge(open_engine: Open) -> str:
    """No room for a token."""
    return alone(open_engine, 0, 4)


@question("A prompt of 1 token more than the longest text")
def over_edge(open_engine: Open) -> str:
    """The prompt itself does not fit."""
    return alone(open_engine, 1, 4)


@question("`max_tokens` is 0")
def nothing_asked(open_engine: Open) -> str:
    """A request for no text."""
    return alone(open_engine, 20, 0)


@question("An empty prompt")
def empty(open_engine: Open) -> str:
    """A request without a context."""
    return alone(open_engine, None, 4)


@question("The ID of a request that is running is used again")
def duplicate(open_engine: Open) -> str:
    """Two requests, one ID."""
    run = open_engine()
    run.send("one", max_tokens=12)
    run.until_got("one", 2)
    run.send("two", max_tokens=12, as_id="one")
    seen = run.generations()
    one, two = seen["one"], seen["two"]
    if two.refused or (one.text(), two.text()) == (seen.expected(one), seen.expected(two)):
        return f"the first: {fate(seen, one)}; the second: {fate(seen, two)}"
    computed = f"computed in {len(seen.rows(one))} and {len(seen.rows(two))} iterations" if seen.iterations else "not seen"
    together, ends = len(one.text()) + len(two.text()), len(one.ends) + len(two.ends)
    return f"{computed}; what comes out under the ID: {together} tokens, and {ends} of 2 ends"


def aborted(run: Generating) -> str:
    """Abort a request, and say what is seen of it afterwards."""
    run.abort("one")
    run.step(3)
    run.look("after")
    run.send("next", max_tokens=2)
    seen = run.generations()
    one = seen["one"]
    later = sum(place >= (one.aborted_at or 0) for place, _ in seen.rows(one))
    used = seen.look("after").gauges.get("used_blocks")
    said = ", ".join(f"'{end.reason}'" for end in one.ends) or "no end"
    in_them = f"in {later} more iterations" if seen.iterations else "iterations not seen"
    return f"{in_them}; {said}; {'blocks not told' if used is None else f'{used:g} blocks are held after 3 iterations'}"


@question("A request is aborted in the middle of its prompt")
def abort_prefill(open_engine: Open) -> str:
    """A prompt that needs three iterations, of which one has been."""
    run = open_engine(budget=2)
    run.send("one", length=6 * run.block, max_tokens=4)
    run.until_running("one")
    return aborted(run)


@question("A request is aborted while it waits")
def abort_waiting(open_engine: Open) -> str:
    """A request behind one that is about to end."""
    run = open_engine(seqs=1)
    run.send("plug", max_tokens=3)
    run.until_running("plug")
    run.send("one", max_tokens=4)
    return aborted(run)


@question("A prompt that never fits into the KV cache")
def never(open_engine: Open) -> str:
    """A cache of 4 blocks, a context of 8, a prompt of 6."""
    run = open_engine(blocks=4)
    run.send("one", length=6 * run.block, max_tokens=4)
    run.send("small", max_tokens=4)
    seen = run.generations()
    gone = f"; the engine is gone: {short(seen.gone)}" if seen.gone else ""
    return f"{fate(seen, seen['one'])}; the small one behind it: {fate(seen, seen['small'])}{gone}"


@question("Another request takes one block of a cached prompt of eight, and the prompt comes again")
def taken(open_engine: Open) -> str:
    """A cache of 12 blocks: a prompt of 8 has ended, another of 5 comes, and then the first one again."""
    run = open_engine(blocks=12, length=12, prefix_cache=True)
    for name, blocks in (("first", 8), ("other", 5)):
        run.send(name, length=blocks * run.block - 2, max_tokens=2)
        run.finish()
    run.send("again", prompt=run.prompt_of("first"), max_tokens=2)
    seen = run.generations()
    again = seen["again"]
    rows = [row for place, row in seen.rows(seen["first"]) if place >= again.at]  # it has that one's name
    return f"{rows[0].start // run.block} of its blocks are found" if rows else "not seen"


def answers(spec: str) -> tuple[str, dict[str, str]]:
    """Return an engine's name with its version, and its answer to each question."""
    target = resolve(spec)
    info, found = target.info, dict[str, str]()
    if target.engine is None:
        raise SystemExit(f"{spec} is not an engine with continuous batching")
    engine = target.engine

    def open_engine(**sizes: Any) -> Generating:
        config = engine_config(info.claims, **sizes)
        return Generating(engine(config), config, info.claims, WAIT_NS, NoStalls())

    try:
        for text, ask in QUESTIONS.items():
            try:
                found[text] = ask(open_engine)
            except Unsupported as lack:
                found[text] = f"cannot be configured: it lacks {noun_of(str(lack))}"
            except TargetError as error:
                found[text] = str(error).splitlines()[0][:200]
    finally:
        target.close()
    return f"{info.name} {info.version}", found


def main(specs: list[str]) -> None:
    """Print a table for each question, with a line for each engine."""
    engines = [answers(spec) for spec in specs]
    for text in QUESTIONS:
        print(f"## {text}\n\n| engine | what happens |\n|---|---|")
        for name, found in engines:
            print(f"| {name} | {found[text].replace('|', '/')} |")
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
