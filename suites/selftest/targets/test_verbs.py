"""The one place that asks what an adapter has: defaults for what it lacks, and no other code that asks."""

from __future__ import annotations

import ast
import asyncio
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from batchproof.host.clock import HOST_CLOCK
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.defaults import documented
from batchproof.targets.protocol import Deployment, Target, TargetError, TargetInfo, Unsupported
from batchproof.targets.verbs import FullDeployment, FullTarget, full, full_deployment
from batchproof.targets.virtual import VirtualTarget

ROOT = Path(str(files("batchproof")))
VERDICTS = ("release", "log", "queued", "cancel", "statistics", "config_pbtxt", "pause", "resume", "kill_instance")
ROOMS = ("fixtures", "load", "bench", "commands", "reports", "suites/config", "suites/conformance", "suites/performance")
OPTIONAL = {
    *VERDICTS, "finish", "clock", "process_group", "close", "alive", "validate", "serve", "restart", "server_log",
    "deploys_at_once", "deploy_beside", "deploy_defaults", "route",
}


def bare(**more: Any) -> Any:
    """The smallest adapter possible, with what else the test gives it."""
    deployed = SimpleNamespace(submit=lambda _request: None, close=lambda: None)
    return SimpleNamespace(**{"info": TargetInfo("bare", "1", "bare"), "deploy": lambda _config: deployed, **more})


def asked_for(source: str) -> set[str]:
    """Return the optional verbs that a program asks for by `getattr` or `hasattr`."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr")]
    words = [call.args[1].value for call in named if isinstance(call.args[1], ast.Constant)]
    return OPTIONAL & set(words)


def test_a_missing_verb_that_decides_a_verdict_is_none() -> None:
    """A bare deployment has no verb that could be taken for an answer."""
    deployed = full(bare()).deploy(BatcherConfig())

    assert [getattr(deployed, verb) for verb in VERDICTS] == [None] * len(VERDICTS)
    assert [full(bare()).validate, full(bare()).restart] == [None, None]


def test_every_other_missing_verb_has_a_default() -> None:
    """A verb that decides no verdict does nothing."""
    target = full(bare())
    deployed = target.deploy(BatcherConfig())

    assert (target.alive(), target.close(), target.server_log(), target.deploys_at_once) == ("", None, "", 0)
    assert (deployed.finish, deployed.clock, deployed.process_group) == (deployed.close, HOST_CLOCK, 0)
    assert target.deploy_beside(deployed, BatcherConfig()) is None


def test_verbs_of_the_adapter_are_passed_on() -> None:
    """Every verb of the simulated target is found, and a target that already has all of them stays as it is."""
    target = full(VirtualTarget())
    deployed = target.deploy(BatcherConfig())

    assert None not in [getattr(deployed, verb) for verb in VERDICTS]
    assert full(target) is target
    assert full_deployment(deployed) is deployed
    assert isinstance(target, Target)
    assert isinstance(deployed, Deployment)


def test_nothing_is_set_by_a_verb_of_its_own() -> None:
    """The adapter's `deploy` never gets a configuration that sets nothing, and without the verb that is UNSUPPORTED."""
    nothing_set = documented({"default_batch": 16, "default_delay_ms": 1.5})
    deployed = bare().deploy(None)

    assert full(bare(deploy_defaults=lambda: deployed, deploy=None)).deploy(nothing_set).inner is deployed
    assert nothing_set.facts() == {"nothing_set": True, "max_batch_size": 16, "max_queue_delay_ns": 1_500_000}
    assert documented({}).facts() == {"nothing_set": True}
    with pytest.raises(Unsupported, match="defaults"):
        full(bare()).deploy(nothing_set)


def test_a_target_knows_whether_it_is_simulated() -> None:
    """A deployment knows by its clock, and a target by its sight; a neighbour shares the clock."""
    host, virtual = full(bare()), full(VirtualTarget())
    one = virtual.deploy(BatcherConfig())
    neighbour = virtual.deploy_beside(one, BatcherConfig())

    assert neighbour is not None
    assert (host.simulated, host.deploy(BatcherConfig()).simulated) == (False, False)
    assert (virtual.simulated, one.simulated, neighbour.clock is one.clock) == (True, True, True)


@pytest.mark.parametrize(("own", "of_target", "found"), [(5, 7, 5), (0, 7, 7), (5, 0, 5), (0, 0, 0)])
def test_the_processes_are_those_of_the_deployment_or_the_target(own: int, of_target: int, found: int) -> None:
    """A deployment with a server of its own names its processes; otherwise the target does, also after a restart."""
    target = FullTarget(bare(process_group=1))
    deployed = FullDeployment(bare(submit=print, close=print, process_group=own), target)

    target.inner.process_group = of_target

    assert deployed.process_group == found


def test_torch_needs_a_claim_and_a_verb() -> None:
    """Neither is enough alone."""
    claims = TargetInfo("bare", "1", "bare", claims={"torch": True})
    targets = bare(), bare(info=claims), bare(serve=print), bare(info=claims, serve=print)

    assert [full(target).serves_torch for target in targets] == [False, False, False, True]


def test_added_claims_reach_the_adapter() -> None:
    """They survive a restart of the adapter."""
    target = full(bare())
    target.info = TargetInfo("bare", "2", "bare")

    assert target.inner.info.version == "2"


def test_the_search_finds_what_it_looks_for() -> None:
    """A search that finds nothing would report no error."""
    assert asked_for("if hasattr(deployment, 'clock'):\n    getattr(target, 'close', None)()") == {"clock", "close"}


@pytest.mark.parametrize("room", ROOMS)
def test_no_other_room_asks_for_verbs(room: str) -> None:
    """Outside `targets/`, every verb exists."""
    found = {path.name: asked_for(path.read_text(encoding="utf-8")) for path in (ROOT / room).rglob("*.py")}

    assert {name: verbs for name, verbs in found.items() if verbs} == {}


def raising(error: BaseException) -> Any:
    """A verb that raises this."""

    def verb(*_arguments: Any) -> Any:
        raise error

    return verb


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (SystemExit(0), "raised SystemExit(0), as sys.exit does: let the adapter raise an Exception"),
        (asyncio.CancelledError(), "raised CancelledError(): let the adapter raise an Exception"),
    ],
)
def test_no_verb_can_end_this_process(error: BaseException, says: str) -> None:
    """A server that cannot bind its port calls `sys.exit`: that is a broken target, and not the end of the run."""
    deployed = SimpleNamespace(**dict.fromkeys(("submit", "close", *VERDICTS), raising(error)))
    one = full_deployment(deployed)
    target = full(bare(**dict.fromkeys(("deploy", "deploy_defaults", "validate", "restart", "close"), raising(error))))
    verbs = [*(getattr(one, verb) for verb in ("submit", "close", "finish", *VERDICTS)), target.deploy, target.validate,
             target.restart, target.close, lambda: target.deploy(documented({}))]  # fmt: skip

    for verb in verbs:
        with pytest.raises(TargetError) as raised:
            verb(*[None] * (verb == target.deploy))
        assert says in str(raised.value)


def test_ctrl_c_is_not_an_error_of_the_adapter() -> None:
    """A verb may be what it interrupts."""
    with pytest.raises(KeyboardInterrupt):
        full(bare(close=raising(KeyboardInterrupt()))).close()
