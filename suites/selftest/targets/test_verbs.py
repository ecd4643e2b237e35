"""The one place that asks what an adapter has: defaults for what it lacks, and nobody else who asks."""

from __future__ import annotations

import ast
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from batchproof.host.clock import HOST_CLOCK
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import Deployment, Target, TargetInfo
from batchproof.targets.verbs import FullDeployment, FullTarget, full, full_deployment
from batchproof.targets.virtual import VirtualTarget

ROOT = Path(str(files("batchproof")))
VERDICTS = ("release", "log", "queued", "cancel", "statistics", "config_pbtxt", "pause", "resume", "kill_instance")
ROOMS = ("fixtures", "load", "bench", "commands", "reports", "suites/config", "suites/conformance", "suites/performance")
OPTIONAL = {
    *VERDICTS, "finish", "clock", "process_group", "close", "alive", "validate", "serve", "restart", "server_log",
    "deploys_at_once", "deploy_beside",
}


def bare(**more: Any) -> Any:
    """The smallest adapter there is, and what else the test gives it."""
    deployed = SimpleNamespace(submit=lambda _request: None, close=lambda: None)
    return SimpleNamespace(**{"info": TargetInfo("bare", "1", "bare"), "deploy": lambda _config: deployed, **more})


def asked_for(source: str) -> set[str]:
    """The optional verbs that a program asks for by `getattr` or `hasattr`."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr")]
    words = [call.args[1].value for call in named if isinstance(call.args[1], ast.Constant)]
    return OPTIONAL & set(words)


def test_what_decides_a_verdict_is_none_where_it_is_not_there() -> None:
    """A bare deployment has no verb that somebody could take for an answer."""
    deployed = full(bare()).deploy(BatcherConfig())

    assert [getattr(deployed, verb) for verb in VERDICTS] == [None] * len(VERDICTS)
    assert [full(bare()).validate, full(bare()).restart] == [None, None]


def test_all_else_has_a_default() -> None:
    """What no verdict hangs on does nothing."""
    target = full(bare())
    deployed = target.deploy(BatcherConfig())

    assert (target.alive(), target.close(), target.server_log(), target.deploys_at_once) == ("", None, "", 0)
    assert (deployed.finish, deployed.clock, deployed.process_group) == (deployed.close, HOST_CLOCK, 0)
    assert target.deploy_beside(deployed, BatcherConfig()) is None


def test_what_is_there_is_passed_on() -> None:
    """Every verb of the simulated target is found, and what is full already stays as it is."""
    target = full(VirtualTarget())
    deployed = target.deploy(BatcherConfig())

    assert None not in [getattr(deployed, verb) for verb in VERDICTS]
    assert full(target) is target
    assert full_deployment(deployed) is deployed
    assert isinstance(target, Target)
    assert isinstance(deployed, Deployment)


def test_who_is_simulated() -> None:
    """By its clock; a target by its sight; a neighbour shares the clock."""
    host, virtual = full(bare()), full(VirtualTarget())
    one = virtual.deploy(BatcherConfig())
    neighbour = virtual.deploy_beside(one, BatcherConfig())

    assert neighbour is not None
    assert (host.simulated, host.deploy(BatcherConfig()).simulated) == (False, False)
    assert (virtual.simulated, one.simulated, neighbour.clock is one.clock) == (True, True, True)


@pytest.mark.parametrize(("own", "of_target", "found"), [(5, 7, 5), (0, 7, 7), (5, 0, 5), (0, 0, 0)])
def test_the_processes_are_its_own_or_its_targets(own: int, of_target: int, found: int) -> None:
    """A deployment that is a server of its own says so; else its target does, also after a restart."""
    target = FullTarget(bare(process_group=1))
    deployed = FullDeployment(bare(submit=print, close=print, process_group=own), target)

    target.inner.process_group = of_target

    assert deployed.process_group == found


def test_torch_is_served_by_claim_and_verb() -> None:
    """Neither of them is enough."""
    claims = TargetInfo("bare", "1", "bare", claims={"torch": True})
    targets = bare(), bare(info=claims), bare(serve=print), bare(info=claims, serve=print)

    assert [full(target).serves_torch for target in targets] == [False, False, False, True]


def test_claims_that_are_laid_over_reach_the_adapter() -> None:
    """A restart of the adapter keeps them."""
    target = full(bare())
    target.info = TargetInfo("bare", "2", "bare")

    assert target.inner.info.version == "2"


def test_the_search_finds() -> None:
    """A search that finds nothing would find nothing wrong."""
    assert asked_for("if hasattr(deployment, 'clock'):\n    getattr(target, 'close', None)()") == {"clock", "close"}


@pytest.mark.parametrize("room", ROOMS)
def test_nobody_else_asks(room: str) -> None:
    """Outside `targets/` every verb is there."""
    found = {path.name: asked_for(path.read_text(encoding="utf-8")) for path in (ROOT / room).rglob("*.py")}

    assert {name: verbs for name, verbs in found.items() if verbs} == {}
