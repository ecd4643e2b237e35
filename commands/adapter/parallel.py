"""Several of a thing: two instances, two deployments."""

from __future__ import annotations

from dataclasses import dataclass

from batchproof.commands.adapter.backlog import NEEDED
from batchproof.commands.adapter.finding import Finding, note, ok, unseen, wrong


@dataclass(frozen=True)
class Instances:
    """A deployment with two instances, and held requests that were sent until both were busy.

    unsupported: `deploy` refused, or empty. instances: which the witness named for each held request that entered the model.
    together: whether two were in the model at once. shared: whether requests were served by the free one while the other was
    held; None if it was not tried. executed: whether one of them had been executed all the same, and only its answer waited.
    """

    unsupported: str = ""
    sent: int = 0
    instances: tuple[int, ...] = ()
    together: bool = False
    shared: bool | None = None
    executed: bool = False


@dataclass(frozen=True)
class Beside:
    """Two deployments at a time.

    same: `deploy` returned the same object again. apart: why they were not tried together, or empty. served: the second
    answered while the first had a held request. foreign: serials in a log that were sent to the other. alive: the first
    still works afterwards.
    """

    same: bool = False
    apart: str = ""
    served: bool = True
    foreign: int = 0
    alive: bool = True


def judge_instances(found: Instances, *, claimed: bool) -> tuple[Finding, ...]:
    """Judge whether two instances are two, with a witness each."""
    if found.unsupported:
        return (note("instances", f"`deploy` refuses two instances: {found.unsupported}"),)
    if found.together and len(set(found.instances)) < len(found.instances):
        says = f"two executions at once call themselves instance {found.instances[0]}"
        return (
            wrong("instances", says, "Witness", "give each copy of the model a number of its own: Witness(folder, number)"),
        )
    if found.together:
        return (ok("instances", "two instances run at once, each with a witness of its own"),)
    if not found.sent:
        return (unseen("instances", f"it needs {NEEDED}"),)
    says = f"with instances = 2, only one of {found.sent} held requests is in the model"
    if claimed:
        return (wrong("instances", says, "deploy", "pass config.instances on, or do not claim `instances`"),)
    return (note("instances", f"{says}: raise Unsupported('instances'), or pass config.instances on", "deploy"),)


@dataclass(frozen=True)
class Defaults:
    """A deployment with nothing set.

    verb: there is one for it. failed: what went wrong, or empty. batches: of a backlog. waited_ns: what two lone requests
    waited outside the model, if the first waited for long and no delay is documented.
    """

    verb: bool
    failed: str = ""
    batches: tuple[int, ...] = ()
    waited_ns: tuple[int, ...] = ()


def judge_defaults(found: Defaults, *, claimed: bool) -> tuple[Finding, ...]:
    """Judge whether what is claimed of a deployment with nothing set can be tried."""
    if not found.verb:
        says = "`defaults` is claimed, and there is no verb `deploy_defaults`"
        return (wrong("defaults", says, "TargetInfo", "add the verb, or do not claim it"),) if claimed else ()
    if found.failed:
        mend = "set nothing but what the stack cannot do without, such as a port"
        return (wrong("defaults", f"with nothing set {found.failed}", "deploy_defaults", mend),)
    sizes = f", and a backlog leaves in batches of {list(found.batches)}" if found.batches else ""
    says = f"with nothing set requests are answered{sizes}"
    if claimed:
        return (ok("defaults", says),)
    return (note("defaults", f"{says}: claim `defaults`, so that rules about it are judged", "TargetInfo"),)


def judge_beside(found: Beside) -> tuple[Finding, ...]:
    """Judge whether deployments may live side by side."""
    if found.apart:
        return (note("side by side", f"not tried: {found.apart}"),)
    if found.same:
        return (
            note("side by side", "`deploy` returns the same object: one configuration at a time, so a run takes longer"),
        )
    if found.foreign:
        says = "the log of one deployment shows requests that were sent to another"
        return (wrong("side by side", says, "Witness", "give each deployment a folder of its own"),)
    if not found.served or not found.alive:
        what = (
            "the second answers nothing while the first is busy"
            if not found.served
            else "the first is dead after the second"
        )
        mend = "let them share nothing (ports, folders, names), or claim side_by_side = false"
        return (wrong("side by side", f"two deployments at a time: {what}", "deploy", mend),)
    return (ok("side by side", "two deployments at a time do not disturb each other"),)
