"""The claims that were measured, as a `claims.toml` to start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median_low
from typing import Any

from batchproof.commands.adapter.backlog import Backlog, is_batched
from batchproof.commands.adapter.facts import Facts
from batchproof.commands.adapter.finding import MS, Finding, ms, note
from batchproof.commands.adapter.timing import anchor, is_none, kept, took_early
from batchproof.fixtures.judging.catalogue import rules
from batchproof.targets.claims import contradicted, value_of

Value = bool | int | float | str
HEAD = """\
# Claims of {name} {version}, as `batchproof adapter check` measured them.
# Measured, not assumed: a claim is a promise of the stack's documentation. Keep a line that the documentation supports,
# change one that it contradicts (then the rules show the difference), and link to the place.
[claims]
"""
NAMED = 3
ALIKE = 0.8  # of the longer of two waits: then both are for one delay
EARLY = "a timer is armed too early (DB-DELAY-001)"
SINCE_FLUSH = 'the delay counts since the last flush (delay_anchor = "loop-entry")'
UNFILLED = "batches are closed too early (DB-SIZE-002)"
DISORDER = "requests overtake each other (DB-ORDER-001)"
UNMADE = "with instances = 2, only one is made use of (DB-LIVE-003)"
OUTSIDE = "free instances are not told of what waits (DB-LAW-005)"
BEHIND = "the answers of one instance wait for another (DB-ORDER-005)"
UNCLOSED = "it can be closed, and breaks the rules about that (DB-LIVE-004)"
UNTOLD = "those that wait are lost, which breaks a rule (DB-LIVE-004)"
UNTIMED = "it has one, and breaks DB-TIMEOUT-001"
UNCANCELLED = "it can be, and breaks DB-CANCEL-001"
UNCLEAR = "# Decide by the documentation: {line}  # {reasons}"
UNTRIED = "# Not tried, and so not claimed: {names}.\n"
OTHERS = (
    "max_queue_size", "queue_limit_counts", "timeout_delay", "timeout_override", "preferred_sizes", "ordering", "priorities",
    "shapes", "ragged", "optional_inputs", "response_cache", "statistics", "error_status", "faults", "counts_results",
    "sequences", "custom_batching", "repository",
)  # fmt: skip
OF_SEQUENCES = ("cancel", "close")  # what is measured of a stack that serves only sequences
SEQUENCE_OTHERS = (
    "sequence_ids", "sequence_state", "delay", "delay_anchor", "instances", "cancel", "queue_timeout", "close", "closing",
    "preferred_sizes", "statistics", "error_status",
)  # fmt: skip
ENGINE_OTHERS = (
    "joins_within", "admission", "request_priorities", "preemption", "prefix_cache", "samples", "kv_blocks", "block_size",
    "duplicate_ids", "disconnects",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """One claim: its value, what it rests on, and other values that would have looked alike.

    unless: what else explains what was seen, such as a rule that the stack breaks. Only its documentation can tell, so
    nothing is claimed.
    """

    name: str
    value: Value
    why: str
    alike: tuple[Value, ...] = ()
    unless: str = ""

    @property
    def reasons(self) -> str:
        """What it rests on, and what else explains that."""
        return f"{self.why}; or {self.unless}" if self.unless else self.why


def measured(facts: Facts) -> tuple[Measured, ...]:
    """Return the claims that these facts support, those of the delay first.

    Where only sequences are served, a backlog shows little: how they share batches depends on their slots.
    """
    if facts.steps:
        return (*_sequences(facts), *(one for one in _features(facts) if one.name in OF_SEQUENCES))
    return (*_sequences(facts), *_delay(facts), *_batches(facts), *_features(facts))


def _sequences(facts: Facts) -> list[Measured]:
    """Return the strategies for sequences."""
    served = [one.strategy for one in (facts.steps or facts.strategies) if one.good]
    why = "a sequence was served, from its START to its END"
    return [Measured("sequences", served[0] if len(served) == 1 else "both", why)] if served else []


def _delay(facts: Facts) -> list[Measured]:
    if facts.no_delay:
        return [Measured("delay", value=False, why=f"`deploy` refuses a queue delay: {facts.no_delay}")]
    plain, delayed = facts.waits, facts.delayed
    if plain is None or delayed is None or not (plain.lone_ns and plain.burst_ns and delayed.lone_ns):
        return []
    if not kept(delayed, plain):
        return [Measured("delay", value=False, why=f"a delay of {ms(delayed.delay_ns)} changes nothing for a lone request")]
    waits = ms(median_low(delayed.lone_ns))  # one of them may have met a stall of the host
    found = [Measured("delay", value=True, why=f"with {ms(delayed.delay_ns)} a lone request waits {waits}")]
    if name := anchor(delayed):
        why = f"roughly: after a model that was busy for longer, {ms(max(0, delayed.after_busy_ns or 0))} are left"
        alike: tuple[Value, ...] = ("first-dequeue",) if took_early(delayed) else ()
        why += "".join(f", as with {one}" for one in alike)
        alike += ("newest-enqueue",) if name == "oldest-enqueue" else ()  # one that waits alone does not show it
        if name == "loop-entry":
            shortest = f"a lone request waits {ms(min(delayed.lone_ns))} of {ms(delayed.delay_ns)}"
            why = f"{shortest}: the timer runs freely, or the delay counts since the last flush: this is the claim for both"
        found.append(Measured("delay_anchor", name, why, alike, EARLY if name == "loop-entry" else ""))
    return [*found, *_zero(facts)]


def _zero(facts: Facts) -> list[Measured]:
    plain, tiny = facts.waits, facts.tiny
    assert plain is not None
    if plain.delay_ns:
        refused = "`deploy` refuses a delay of 0, or the claims do"
        why = f"with a delay of 0 {facts.no_zero}" if facts.no_zero else refused
        return [Measured("smallest_delay_ms", plain.delay_ns / MS, why)]
    if is_none(plain):
        return [Measured("zero_delay", "off", f"a lone request spends {ms(min(plain.lone_ns))} outside the model")]
    waited = f"with a delay of 0 a lone request waits {ms(min(plain.lone_ns))}"
    if tiny is not None and tiny.lone_ns and 3 * min(tiny.lone_ns) < 2 * min(plain.lone_ns):
        return [Measured("zero_delay", "default", f"{waited}, with {ms(tiny.delay_ns)} only {ms(min(tiny.lone_ns))}")]
    return [Measured("smallest_delay_ms", round(min(plain.lone_ns) / MS, 1), waited)]


def _batches(facts: Facts) -> list[Measured]:
    found = []
    if facts.backlog is not None and facts.usable and facts.backlog.batches:
        sizes, batched = list(facts.backlog.batches), is_batched(facts.backlog)
        if not (batched and facts.waits is not None and facts.waits.delay_ns):  # there may be a delay that gathered them
            found.append(Measured("batches_without_delay", batched, f"a backlog left in {sizes}"))
        if name := facts.backlog.disorder:
            how = "left" if name == "order" else "stood in their batch"
            found.append(Measured(name, "any", f"a backlog {how} in another order than it came", unless=DISORDER))
    if facts.delayed is not None and facts.delayed.grew is not None:
        says = "joined the batch" if facts.delayed.grew else "came into another batch"
        found.append(Measured("late_binding", facts.delayed.grew, f"a request that came while the model was busy {says}"))
    elif facts.backlog is not None and facts.usable and _staged(facts.backlog):
        why = f"a backlog left in {list(facts.backlog.batches)}, as if the first batch had not waited for the model"
        found.append(Measured("late_binding", value=False, why=why, unless=UNFILLED))
    if facts.smallest is not None and facts.smallest.value is not None:
        found.append(Measured("smallest_batch", facts.smallest.value, "the smallest that `deploy` accepts"))
    if facts.rows is not None:
        value = facts.rows.value
        why = (
            facts.rows.error or f"batches of {[list(rows) for rows in facts.rows.executions]} rows, limit {facts.rows.limit}"
        )
        if value or facts.rows.error:
            found.append(Measured("rows", value or False, why))
    return found


def _features(facts: Facts) -> list[Measured]:
    found = []
    if facts.backlog is not None and facts.backlog.passed:
        why = "with instances = 1, a batch ran while another one was in the model"
        found.append(Measured("instances", "unlimited", why))
    elif (many := facts.instances) is not None and (many.unsupported or many.sent):
        why = many.unsupported or ("two ran at once" if many.together else "two never ran at once")
        found.append(Measured("instances", many.together, why, unless="" if many.unsupported or many.together else UNMADE))
        if many.shared:  # a router may know which instance is free
            found.append(Measured("queue", "shared", "the free instance served all", ("each-instance",)))
        elif many.shared is not None:
            why = "requests waited although an instance was free"
            found.append(Measured("queue", "each-instance", why, unless=BEHIND if many.executed else OUTSIDE))
    found += _timeout(facts)
    if facts.cancelled is not None and (facts.cancelled.executed is not None or not facts.cancelled.verb):
        gone = facts.cancelled.verb and not facts.cancelled.executed
        why = "a cancelled request did not reach the model" if gone else "a cancelled request was executed"
        why = why if facts.cancelled.verb else "there is no verb `cancel`"
        found.append(Measured("cancel", gone, why, unless=UNCANCELLED if facts.cancelled.verb and not gone else ""))
    if facts.closing is not None:
        closing = facts.closing
        settled = closing.settled or closing.dropped
        fine = settled and closing.returned and not closing.raised and not closing.serves
        why = (
            "it serves nothing more"
            if fine
            else "it still serves"
            if closing.serves
            else "it breaks, or leaves a request behind"
        )
        found.append(Measured("close", fine, why, unless="" if fine else UNCLOSED))
        if fine and closing.dropped:
            why = "a request that waited was neither answered nor executed"
            found.append(Measured("closing", "drops", why, unless=UNTOLD))
    if facts.defaults is not None and facts.defaults.verb:
        why = facts.defaults.failed or "requests are answered with nothing set"
        found.append(Measured("defaults", not facts.defaults.failed, why))
        found += _default_delay(facts.defaults.waited_ns)
    if facts.beside is not None and not facts.beside.same and not facts.beside.apart:
        fine = facts.beside.served and facts.beside.alive and not facts.beside.foreign
        found.append(Measured("side_by_side", fine, "two deployments at a time"))
    return found


def _default_delay(waited_ns: tuple[int, ...]) -> list[Measured]:
    """Return the delay with nothing set that nobody documents, rounded up to two digits; none if only a first call waits."""
    if not waited_ns or min(waited_ns) < ALIKE * max(waited_ns) / 2:
        return []
    longest_ms = max(waited_ns) / MS
    step = 10 ** max(0, floor(log10(longest_ms)) - 1)
    why = f"with nothing set lone requests wait {' and '.join(ms(one) for one in waited_ns)}"
    steady = min(waited_ns) >= ALIKE * max(waited_ns)
    other = "" if steady else f"{SINCE_FLUSH}, or {EARLY}"
    return [Measured("default_delay_ms", ceil(longest_ms / step) * step, why, unless=other)]


def _timeout(facts: Facts) -> list[Measured]:
    found = []
    if (late := facts.expired) is not None and (late.unsupported or late.queue is not None):
        timed = late.queue is not None and late.queue.kind == "expired"
        why = late.unsupported or ("a late request was refused" if timed else "a late request was not refused")
        found.append(Measured("queue_timeout", timed, why, unless="" if late.unsupported or timed else UNTIMED))
        if timed and late.model is not None:
            covers = "request" if late.model.error else "queue"
            found.append(
                Measured(
                    "timeout_covers",
                    covers,
                    "a request whose model took longer was " + ("refused" if late.model.error else "answered"),
                )
            )
    return found


def differences(claims: Mapping[str, Any], found: tuple[Measured, ...]) -> tuple[Finding, ...]:
    """Return a note for each claim that the adapter makes and that was measured otherwise."""
    return tuple(
        note(
            "claims",
            f"{one.name} = {_with_unit(one.name, value_of(claims, one.name))} is claimed, "
            f"{_with_unit(one.name, one.value)} was measured: {one.reasons}",
        )
        for one in found
        if one.name in claims and value_of(claims, one.name) not in (one.value, *one.alike)
    )


def as_toml(claims: tuple[Measured, ...], name: str, version: str, others: Sequence[str] = OTHERS) -> str:
    """Return the file. What is not promised, or not clear, is in it as a comment. others: were not tried."""
    lines = [line for one in claims for line in _lines(one)]
    untried = UNTRIED.format(names=", ".join(others))
    return "\n".join([HEAD.format(name=name, version=version).rstrip("\n"), *lines, untried])


def _lines(claim: Measured) -> list[str]:
    """Return the lines of a claim; if there is another explanation, only a comment with both."""
    line = f"{claim.name} = {_toml(claim.value)}"
    if claim.unless:
        return [UNCLEAR.format(line=line, reasons=claim.reasons)]
    return [*_ruled_out(claim), f"{line}  # {claim.why}"]


def _staged(backlog: Backlog) -> bool:
    """Return whether the first batch of a backlog was small, and a later one full: it may have been closed too early."""
    sizes = backlog.batches
    return is_batched(backlog) and len(sizes) > 1 and sizes[0] < backlog.size == max(sizes)


def _ruled_out(claim: Measured) -> list[str]:
    """Return a warning if more rules are not judged with a claim than because of it: a defect that is claimed is hidden."""
    claims = {claim.name: claim.value}
    about = [one for one in rules().values() if any(need.partition("=")[0] == claim.name for need in one.needs)]
    out = [one for one in about if contradicted(claims, one.needs) and not contradicted({}, one.needs)]
    if 2 * len(out) <= len(about):
        return []
    named = ", ".join(one.id for one in sorted(out, key=lambda one: one.profile != "CORE")[:NAMED])
    more = f" and {len(out) - NAMED} more" if len(out) > NAMED else ""
    return [f"# Careful: with the next line nobody judges {named}{more}. Keep it only if the documentation says so."]


def _with_unit(name: str, value: Value) -> str:
    """Return a claim's value as a reader wants it: `30 ms` of a duration."""
    return f"{_toml(value)} ms" if name.endswith("_ms") and not isinstance(value, bool | str) else _toml(value)


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"
