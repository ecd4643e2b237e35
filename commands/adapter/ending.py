"""How things end: rows, small batches, cancelled and late requests, a model that raises, a deployment that is closed."""

from __future__ import annotations

from dataclasses import dataclass

from batchproof.commands.adapter.answers import REFUSED, Ended
from batchproof.commands.adapter.backlog import NEEDED
from batchproof.commands.adapter.finding import Finding, ms, note, ok, unseen, wrong


@dataclass(frozen=True)
class Rules:
    """The rules that judge what a check only notes: a cancelled request that runs, one that is never told, an error."""

    cancelled: str
    told: str
    failed: str


PLAIN = Rules("DB-CANCEL-001", "DB-CANCEL-006", "the rules DB-FAIL-* judge that")
OF_SEQUENCES = Rules("SB-CANCEL-001", "SB-LAW-007", "SB-LIVE-001 judges that")


@dataclass(frozen=True)
class Smallest:
    """max_batch_size that were tried, with what `deploy` said (empty: it deployed), and the batches of a backlog with 1.

    kept: a larger one, with which the first batch of a backlog was full; then a first batch of 1 shows that 1 is passed on.
    """

    tried: tuple[tuple[int, str], ...]
    batches: tuple[int, ...] = ()
    kept: int = 0

    @property
    def value(self) -> int | None:
        """The smallest that deployed."""
        return min((size for size, refused in self.tried if not refused), default=None)


@dataclass(frozen=True)
class Rows:
    """Requests of several rows. error: why one was not answered. executions: the rows of each request of each batch.

    limit: max_batch_size. sent: how many requests waited together.
    """

    error: str = ""
    executions: tuple[tuple[int, ...], ...] = ()
    limit: int = 0
    sent: int = 0

    @property
    def value(self) -> str:
        """The value of the claim `rows`: empty if a request cannot have several, or no batch shows it."""
        if self.error or not self.executions:
            return ""
        if sum(len(rows) for rows in self.executions) > self.sent:
            return "split"
        if any(sum(rows) > self.limit for rows in self.executions):
            return "requests"
        return "counted" if any(len(rows) > 1 for rows in self.executions) else ""


@dataclass(frozen=True)
class Cancelled:
    """A queued request that was cancelled. executed: it still reached the model. ended: how its Future ended.

    before: how it had ended before anybody cancelled it. That is no evidence of what `cancel` does.
    """

    verb: bool
    executed: bool | None = None
    ended: Ended | None = None
    before: str = ""


@dataclass(frozen=True)
class Expired:
    """With a queue timeout: how a request ended that waited for longer (queue), and one whose model took longer (model)."""

    unsupported: str = ""
    queue: Ended | None = None
    model: Ended | None = None


@dataclass(frozen=True)
class Failure:
    """A request whose batch raises, and the one after it."""

    failed: Ended
    following: Ended


@dataclass(frozen=True)
class Closing:
    """A deployment that was closed while a request waited.

    settled: the request got an answer or a refusal. returned: `close` did. serves: a request that was sent afterwards got an
    answer. dropped: it got neither, and did not run, while the one in the model got its answer.
    """

    settled: bool
    returned: bool
    serves: bool = False
    raised: str = ""
    took_ns: int = 0
    dropped: bool = False


@dataclass(frozen=True)
class Residue:
    """What is left when everything was closed: processes (id and command), threads that keep Python alive, and others."""

    processes: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    daemons: int = 0


def judge_smallest(found: Smallest) -> tuple[Finding, ...]:
    """Judge which batches can be asked for."""
    refused = [f"{size}: {why}" for size, why in found.tried if why]
    if found.value is None:
        return (note("smallest batch", f"none could be deployed ({'; '.join(refused)})", "deploy"),)
    if found.value == 1 and found.batches and max(found.batches) > 1:
        says = f"with max_batch_size = 1 a backlog leaves in {list(found.batches)}"
        if found.kept and found.batches[0] == 1:
            says += f", and with {found.kept} the first batch holds {found.kept}: 1 is passed on, and not kept"
            return (note("smallest batch", f"{says} (DB-SIZE-001 judges that)"),)
        mend = "pass config.max_batch_size on, or raise Unsupported; if 1 is passed on, the batcher breaks DB-SIZE-001"
        return (wrong("smallest batch", says, "deploy", mend),)
    if found.value == 1:
        return (ok("smallest batch", "1 is accepted"),)
    return (note("smallest batch", f"{found.value} ({'; '.join(refused)})", "deploy"),)


def judge_rows(found: Rows) -> tuple[Finding, ...]:
    """Tell how a request of several rows counts."""
    if found.error:
        return (note("rows", f"a request of 3 rows is not served: {found.error}"),)
    says = {
        "": "a request of 3 rows is answered",
        "counted": "rows are counted",
        "requests": "requests are counted, not rows",
        "split": "the rows of a request are split over batches",
    }
    return (ok("rows", says[found.value]),)


def judge_cancelled(found: Cancelled, *, claimed: bool, rules: Rules = PLAIN) -> tuple[Finding, ...]:
    """Judge whether `cancel` does something.

    A request that runs all the same shows a verb that does nothing. One that is taken out of the queue and never told of is
    what the stack, or the adapter, makes of it: nobody can tell from outside, and so a rule judges that.
    """
    if not found.verb:
        return (note("cancel", "there is no `cancel`: rules about cancellation are not judged", "deploy"),)
    if found.before:
        return (unseen("cancel", f"the request had ended before it was cancelled: {found.before}"),)
    if found.executed is None:
        return (unseen("cancel", f"it needs {NEEDED}"),)
    if found.executed:
        says = "`cancel` does nothing: a cancelled request was executed"
        mend = f"cancel it where it is queued; if that is done, the stack breaks {rules.cancelled}"
        return (wrong("cancel", says, "cancel", mend) if claimed else note("cancel", says, "cancel", mend),)
    if found.ended is None or not found.ended.answered:
        says = f"a cancelled request does not reach the model, and its sender is never told: {rules.told} judges that"
        mend = "if the stack does tell its caller, settle the Future: Refused(Kind.CANCELLED, ...)"
        return (note("cancel", says, "cancel", mend),)
    if found.ended.kind != "cancelled":
        how = found.ended.error or "an answer"
        return (
            wrong("cancel", f"a cancelled request ended with {how}", "cancel", "refuse it: Refused(Kind.CANCELLED, ...)"),
        )
    return (ok("cancel", "a cancelled request does not reach the model"),)


def judge_expired(found: Expired, *, claimed: bool) -> tuple[Finding, ...]:
    """Judge what a queue timeout does."""
    if found.unsupported:
        return (note("timeout", f"`deploy` refuses a queue timeout: {found.unsupported}"),)
    if found.queue is None or found.model is None:
        return (unseen("timeout", f"it needs {NEEDED}"),)
    if found.queue.kind == "expired":
        covers = "; a slow model counts too" if found.model.error else ""
        return (ok("timeout", f"a request that waits for too long is refused{covers}"),)
    how = found.queue.error or ("it was answered" if found.queue.answered else "it was never answered")
    says = f"a request that waits for longer than the queue timeout is not refused as expired: {how}"
    if claimed:
        mend = (
            "pass config.queue_timeout_ns on, and say Kind.EXPIRED for that error; if that is done, DB-TIMEOUT-001 is broken"
        )
        return (wrong("timeout", says, "submit" if found.queue.error else "deploy", mend),)
    return (note("timeout", says, "deploy"),)


def judge_failure(found: Failure, *, rules: Rules = PLAIN) -> tuple[Finding, ...]:
    """Judge what becomes of an error of the model."""
    failed = found.failed
    if failed.answered and failed.error and not failed.kind:
        return (wrong("model's error", f"the Future raises {failed.error}, not Refused", "submit", REFUSED),)
    if not failed.answered:
        return (note("model's error", f"a request whose batch raises is never answered: {rules.failed}", "submit"),)
    if not failed.error:
        mend = "if the stack returns errors as results, raise Refused(Kind.FAILED, ...) for them"
        return (wrong("model's error", "a request whose batch raises gets an answer", "submit", mend),)
    if failed.kind != "failed":
        mend = "say Kind.FAILED for an error of the model"
        return (wrong("model's error", f"an error of the model is refused as {failed.kind!r}", "submit", mend),)
    if not found.following.answered or found.following.error:
        how = found.following.error or "no answer"
        return (note("model's error", f"refused as failed; the request after it got {how}: {rules.failed}"),)
    return (ok("model's error", "refused as failed, and the next request is served"),)


def judge_death(why: str) -> tuple[Finding, ...]:
    """Tell that an error of the model has ended the server: that is the stack's doing."""
    says = f"the server ends after it: the rules DB-FAIL-* judge that ({why.partition(';')[0]})"
    return (note("model's error", says),)


def judge_closing(found: Closing, *, claimed: bool = False, drops: bool = False) -> tuple[Finding, ...]:
    """Judge `close` while a request waits. drops: `closing = "drops"` is claimed."""
    advice = "the rules about `close` judge that" if claimed else "do not claim `close`"
    if found.raised:
        return (wrong("close", f"`close` raised {found.raised}", "close", "let it return, even if it is called twice"),)
    if not found.returned:
        return (wrong("close", "`close` has not returned after 10 s", "close", "end what it waits for, and limit the wait"),)
    if not found.settled and not (found.dropped and drops):
        says = f"a request that waits when `close` is called is never answered: {advice}"
        says += '; if its documentation says so, claim `closing = "drops"`' if found.dropped and not drops else ""
        return (note("close", says, "close"),)
    if found.serves:
        flush = "" if claimed else ", unless it is a `flush`, and the stack has nothing else"
        return (note("close", f"the model still serves after `close`: {advice}{flush}", "close"),)
    if found.dropped:
        return (ok("close", f"a waiting request is given up, as is claimed; it takes {ms(found.took_ns)}"),)
    return (ok("close", f"a waiting request is answered or refused; it takes {ms(found.took_ns)}"),)


def judge_residue(found: Residue) -> tuple[Finding, ...]:
    """Judge what is left."""
    rows = []
    if found.processes:
        shown = ", ".join(found.processes[:3]) + (", ..." if len(found.processes) > 3 else "")
        mend = (
            "end every process that the stack starts, workers in sessions of their own included: `targets.kit` has a guard"
        )
        rows.append(wrong("left behind", f"{len(found.processes)} processes are left: {shown}", "finish", mend))
    if found.threads:
        mend = "join them in `close` or `finish`, or make them daemon threads: they keep Python from ending"
        rows.append(wrong("left behind", f"threads are left: {', '.join(found.threads[:3])}", "finish", mend))
    if rows:
        return tuple(rows)
    if found.daemons:
        return (
            note("left behind", f"no processes; {found.daemons} daemon or idle threads", "close", "end them in `close`"),
        )
    return (ok("left behind", "no processes and no threads"),)
