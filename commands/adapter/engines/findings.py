"""What a trial of an engine says about its adapter. Everything here is a pure function of a `Trial`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from batchproof.commands.adapter.claims import Measured
from batchproof.commands.adapter.engines.trials import Trial
from batchproof.commands.adapter.finding import Finding, Level, note, ok, unseen, wrong
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets.engines import ENDS, Generation, Output
from batchproof.targets.witness.languages import Language, TextUnknown

GAUGES = {"running", "waiting", "used_blocks", "free_blocks", "preempted", "prompt_tokens", "output_tokens", "cached_tokens"}
FORM = "return (outputs, busy): the list of new Outputs, and whether work is left"
NEW = "give each token once: Output(name, (token,), end) with what is new since the last step"
WITNESS = "is the witness the engine's model, with the block table that the engine keeps for the row? See docs/adapters.md"
ONE_LINE = (
    "run one iteration, or claim iterations = 'free'; if an iteration calls the model more than once, `merged` of "
    "batchproof.targets.witness.paged makes one line of its calls"
)
ROW = "return the witness's lines, as it made them: number, enter_ns, exit_ns, rows"


def judge_form(trial: Trial) -> tuple[Finding, ...]:
    """Judge whether `step` and its outputs can be read."""
    for step in trial.steps:
        if not step.readable:
            return (wrong("step", f"`step` returns {_shown(step.returned)}", "step", FORM),)
    names = {one.name for one in trial.requests}
    for one in trial.outputs:
        if not isinstance(one, Output):
            return (wrong("step", f"an output is {_shown(one)}, not an Output", "step", FORM),)
        if one.name not in names:
            says = f"an output has the name {_shown(one.name)}, and the request has {_shown(sorted(names)[0])}"
            return (wrong("step", says, "step", "use the name of the Generation: the engine's own ID needs a table"),)
        if one.end and one.end not in ENDS:
            says = f"an output ends with {_shown(one.end)}"
            return (wrong("step", says, "step", f"translate the engine's word into one of {', '.join(ENDS)}"),)
    return (ok("step", f"{len(trial.steps)} steps, {len(trial.outputs)} outputs"),)


def judge_text(trial: Trial, language: Language) -> tuple[Finding, ...]:
    """Judge the text and the end of each request."""
    for broken in trial.raised:
        mend = "a request can be served, so `submit` must not raise; a refusal is an Output with the end `refused`"
        return (wrong("submit", str(broken), broken.verb, mend),)
    found: list[Finding] = []
    for one in trial.requests:
        found += _request(trial, one, language)
        if found:
            return tuple(found[:1])
    return (ok("text", f"{len(trial.requests)} requests got their texts and ends"),)


def _request(trial: Trial, one: Generation, language: Language) -> Iterable[Finding]:
    """Yield what is wrong with the text of one request, the most basic first."""
    mine = [output for output in trial.outputs if output.name == one.name]
    said = tuple(token for output in mine for token in output.tokens)
    ends = [output.end for output in mine if output.end]
    if not said and not ends:
        yield wrong("text", f"{one.name} got no token and no end in {len(trial.steps)} steps", "step", NEW)
    if ends[:1] in (["refused"], ["error"]):
        why = next(output.text for output in mine if output.end)
        yield wrong("text", f"{one.name} ended with '{ends[0]}': {why}", "submit", "this request can be served")
    yield from _pieces(one, [tuple(output.tokens) for output in mine if output.tokens])
    yield from _tokens(trial, one, said, language)
    if len(ends) != 1:
        says = f"{one.name} ended {len(ends)} times: {', '.join(ends) or 'never'}"
        yield wrong("end", says, "step", "give the end once, with the last token or behind it")
    elif ends[0] == "abort":
        yield wrong("end", f"{one.name} got its whole text, and ended with 'abort'", "step", "this is 'length' or 'stop'")


def _pieces(one: Generation, pieces: list[tuple[int, ...]]) -> Iterable[Finding]:
    """Yield what is wrong with how the tokens are handed over."""
    if len(pieces) > 1 and all(later[: len(before)] == before for before, later in pairwise(pieces)):
        yield wrong("text", f"each output of {one.name} has all tokens so far, and not only the new ones", "step", NEW)
    if sum(pieces, ())[: len(one.prompt)] == one.prompt:
        yield wrong("text", f"the text of {one.name} begins with its prompt", "step", "leave the prompt out of the outputs")


def _tokens(trial: Trial, one: Generation, said: tuple[int, ...], language: Language) -> Iterable[Finding]:
    """Yield what is wrong with the tokens. A stop token may be the last one of its text, or left out."""
    try:
        right = language.continuation(one.prompt, one.max_tokens)
    except TextUnknown:
        return
    if one.stop:
        right = right[: right.index(one.stop[0]) + (said[-1:] == one.stop[:1])]
        if len(said) > len(right):
            mend = "pass request.stop on, or do not claim `stop_tokens`"
            yield wrong("stop tokens", f"{one.name} continues after its stop token", "submit", mend)
    place = next((number for number, (a, b) in enumerate(zip(said, right, strict=False)) if a != b), None)
    if place is not None:
        torn = ", and its log has entries out of place" if any(row[3] for row in _rows(trial)) else ""
        yield wrong("text", f"token {place} of {one.name} is {said[place]}, not {right[place]}{torn}", "engine", WITNESS)
    elif len(said) != len(right):
        mend = "pass request.max_tokens on; no other token than request.stop ends a text"
        yield wrong("text", f"{one.name} asked for {len(right)} tokens and got {len(said)}", "submit", mend)


def judge_busy(trial: Trial) -> tuple[Finding, ...]:
    """Judge what `step` says about whether work is left."""
    for place, step in enumerate(trial.steps[:-1]):
        if not step.busy and any(later.outputs for later in trial.steps[place + 1 :]):
            says = f"after step {place + 1} no work is left, and a later one brings tokens"
            return (wrong("busy", says, "step", "return True while a request waits or runs"),)
    if trial.steps and trial.steps[-1].busy:
        return (wrong("busy", "all requests have ended, and work is left", "step", "return False when none waits or runs"),)
    return (ok("busy", "`step` says when no work is left"),)


def judge_log(trial: Trial, *, stepped: bool, wire: bool) -> tuple[Finding, ...]:
    """Judge the witness's log."""
    if wire:
        return (note("log", "its sight is `wire`: rules that need a row of an iteration are not observable"),)
    for step in trial.steps:
        if not isinstance(step.lines, list) or any(not _is_line(line) for line in step.lines):
            return (wrong("log", f"`log` returns {_shown(step.lines)}", "log", ROW),)
    numbers = [line["number"] for line in trial.lines]
    if not numbers:
        mend = f"{ROW}; or say sight='wire' in TargetInfo if nothing can show the iterations"
        return (wrong("log", "`log` has no line, although tokens came out", "log", mend),)
    if any(later <= before for before, later in pairwise(numbers)):
        return (wrong("log", "`log` returns a line twice", "log", "return each line once"),)
    if stepped and any(len(step.lines) > 1 for step in trial.steps):
        most = max(len(step.lines) for step in trial.steps)
        return (wrong("log", f"one `step` has {most} lines, each of which counts as an iteration", "step", ONE_LINE),)
    return _judge_rows(trial)


def _judge_rows(trial: Trial) -> tuple[Finding, ...]:
    """Judge what the log says. A row of less than a request's name has no serial."""
    known = {one.serial for one in trial.requests}
    seen = {row[0] for row in _rows(trial)} - {0}
    if strangers := seen - known:
        return (wrong("log", f"a row has the serial {sorted(strangers)[0]}, which no request has", "log", WITNESS),)
    if lacking := sorted(known - seen):
        return (wrong("log", f"no row is of request {lacking[0]}", "log", WITNESS),)
    if torn := [row for row in _rows(trial) if row[3]]:
        return (wrong("log", f"a row of request {torn[0][0]} has {torn[0][3]} entries out of place", "engine", WITNESS),)
    most = max(len(line["rows"]) for line in trial.lines)
    return (ok("log", f"{len(trial.lines)} iterations of at most {most} rows"),)


def only_together(finding: Finding) -> Finding:
    """Return a finding about several requests as a note: one alone was right, so it may well be the engine's own."""
    if finding.level is not Level.WRONG or finding.mend == ONE_LINE:
        return finding
    says = f"together, {finding.says}; a request alone is right"
    mend = "see how the adapter tells the rows of an iteration apart; if it does, the engine mixes them up, and rules say so"
    return note(finding.check, says, finding.part, mend)


def judge_limits(trial: Trial, config: EngineConfig) -> tuple[Finding, ...]:
    """Judge whether the configuration reaches the engine."""
    lines = [line for line in trial.lines if _is_line(line)]
    if not lines:
        return (unseen("limits", "no iteration is seen"),)
    whole = {one.serial: len(one.prompt) + one.max_tokens - 1 for one in trial.requests}  # later rows are for the rules
    rows = max(sum(row[1] < whole.get(row[0], row[1] + 1) for row in line["rows"]) for line in lines)
    tokens = max(sum(row[2] for row in line["rows"]) for line in lines)
    found = []
    if rows > config.max_num_seqs:
        says = f"with max_num_seqs = {config.max_num_seqs}, an iteration has {rows} rows"
        found.append(wrong("limits", says, "engine", "pass config.max_num_seqs on"))
    if tokens > config.max_num_batched_tokens:
        says = f"with max_num_batched_tokens = {config.max_num_batched_tokens}, an iteration computes {tokens} tokens"
        found.append(wrong("limits", says, "engine", "pass config.max_num_batched_tokens on"))
    if rows == 1 and len(trial.requests) > 1:
        found.append(note("limits", "no two requests share an iteration", "engine", "is it configured for one at a time?"))
    return tuple(found) or (ok("limits", f"at most {rows} rows and {tokens} tokens in an iteration"),)


def _over_before(trial: Trial) -> bool:
    """Return whether the last row of the request that was aborted had been computed when it was aborted."""
    serial = next((one.serial for one in trial.requests if one.name == trial.aborted), None)
    exits = [line["exit_ns"] for line in trial.lines for row in line["rows"] if row[0] == serial]
    return bool(exits) and max(exits) <= trial.aborted_ns


def judge_abort(trial: Trial, *, claimed: bool) -> tuple[Finding, ...]:
    """Judge what happens to a request that is aborted, and to the one alongside it."""
    for broken in trial.raised:
        mend = "an `abort` of a request that has ended, or that nobody sent, does nothing"
        return (wrong("abort", str(broken), broken.verb, mend),)
    mine = [one for one in trial.outputs if one.name == trial.aborted]
    ends = [one.end for one in mine if one.end]
    if ends == ["length"] and _over_before(trial):
        says = "the engine had computed the whole text before it could be aborted"
        mend = "an engine that iterates by itself needs a gate: docs/adapters.md#an-engine-that-iterates-by-itself"
        return (note("abort", says, "step", mend),)
    if ends == ["length"]:
        says = f"a request that was aborted got its whole text, {sum(len(one.tokens) for one in mine)} tokens"
        mend = "abort the engine's own request, or do not claim `cancel`"
        return (wrong("abort", says, "abort", mend) if claimed else note("abort", says, "abort", mend),)
    if ends not in ([], ["abort"]):
        return (
            wrong("abort", f"a request that was aborted ended with {', '.join(ends)}", "abort", "its end is 'abort'"),
        )
    others = [one.name for one in trial.requests if one.name != trial.aborted]
    for name in others:
        if not any(one.name == name and one.end for one in trial.outputs):
            return (wrong("abort", f"{name}, which was not aborted, got no end", "abort", "abort this name only"),)
    return (ok("abort", f"the end of a request that is aborted is {ends[0] if ends else 'not reported'}"),)


def judge_refusal(trial: Trial) -> tuple[Finding, ...]:
    """Judge a prompt that is longer than the longest text, alongside one that is not."""
    for broken in trial.raised:
        mend = "catch the engine's error, and return an Output with the end `refused` and its message from the next `step`"
        return (wrong("refusal", str(broken), broken.verb, mend),)
    over, fine = trial.requests
    ends = [one.end for one in trial.outputs if one.name == over.name and one.end]
    if not any(one.name == fine.name and one.end in ("length", "stop") for one in trial.outputs):
        return (
            note(
                "refusal", f"a prompt that is too long ends with {ends or 'nothing'}, and the request behind it got no end"
            ),
        )
    if ends != ["refused"]:
        says = f"a prompt that is longer than max_model_len ends with {', '.join(ends) or 'nothing'}, and not with 'refused'"
        return (note("refusal", says, "submit", "is config.max_model_len passed on? Is the claim `max_model_len` right?"),)
    return (ok("refusal", "a prompt that is too long is refused"),)


def judge_gauges(trial: Trial, *, claimed: bool) -> tuple[Finding, ...]:
    """Judge the names of the gauges, and whether they move."""
    for said in trial.gauges:
        if not hasattr(said, "keys") or set(said) - GAUGES:
            odd = sorted(set(said) - GAUGES)[0] if hasattr(said, "keys") else _shown(said)
            return (wrong("gauges", f"`gauges` has {odd}", "gauges", f"a dict with some of {', '.join(sorted(GAUGES))}"),)
    if not any(trial.gauges):
        return (wrong("gauges", "`gauges` is empty", "gauges", "return what the engine says, or do not claim `gauges`"),) \
            if claimed else (ok("gauges", "the engine says nothing about itself, and does not claim to"),)  # fmt: skip
    if all(said.get("running", 0) == 0 for said in trial.gauges):
        return (note("gauges", "`running` is 0 after every step", "gauges", "read them when `gauges` is called"),)
    return (ok("gauges", ", ".join(sorted(trial.gauges[0]))),)


def measure(trial: Trial) -> tuple[Measured, ...]:
    """Return the claims that several requests at once support."""
    mixed = any({row[2] > 1 for row in line["rows"]} == {True, False} for line in trial.lines if _is_line(line))
    chunks = Counter(row[0] for row in _rows(trial) if row[2] > 1)
    found = []
    if any(count > 1 for count in chunks.values()):
        found.append(Measured("chunked_prefill", value=True, why="a prompt was computed in several iterations"))
    if mixed:
        found.append(Measured("mixed_iterations", value=True, why="an iteration had a prompt alongside a next token"))
    return tuple(found)


def _rows(trial: Trial) -> Sequence[list[Any]]:
    return [row for line in trial.lines if _is_line(line) for row in line["rows"]]


def _is_line(line: Any) -> bool:
    keys = ("number", "enter_ns", "exit_ns", "rows")
    return isinstance(line, dict) and all(key in line for key in keys) and all(len(row) in (5, 6) for row in line["rows"])


def _shown(what: Any) -> str:
    text = repr(what)
    return text if len(text) <= 80 else f"{text[:77]}..."
