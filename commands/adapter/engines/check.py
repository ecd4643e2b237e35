"""The order in which an engine's adapter is checked, and what makes no sense after what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from batchproof.commands.adapter.caller import Hung
from batchproof.commands.adapter.claims import Measured
from batchproof.commands.adapter.engines import findings
from batchproof.commands.adapter.engines.trials import VERBS, Driver, Trial
from batchproof.commands.adapter.finding import Finding, note, unseen, wrong
from batchproof.commands.adapter.notes import Notes
from batchproof.commands.adapter.probe import Broken
from batchproof.fixtures.judging.engine_fit import engine_config
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets.claims import problems, value_of
from batchproof.targets.deadlines import within
from batchproof.targets.engines import EngineGone, Generation
from batchproof.targets.protocol import TargetError, Unsupported
from batchproof.targets.witness.languages import language_named

SEQS = 3
REST = "not tried: fix this first"


@dataclass
class EngineExamination(Notes):
    """One check under way."""

    measured: tuple[Measured, ...] = ()
    ready: bool = False

    def run(self) -> None:
        """Do all of it, as far as it makes sense."""
        info = self.target.info
        if bad := problems(info.claims):
            self._add(*(wrong("claims", one, "TargetInfo", "docs/claims.md lists the claims") for one in bad))
            return
        self.language = language_named(str(value_of(info.claims, "text")))
        self.stepped = value_of(info.claims, "iterations") == "stepped"
        self.wire = info.sight == "wire"
        if "iterations" not in info.claims:
            mend = "claim 'stepped' if `step` runs one iteration and returns; most rules need it"
            self._add(note("claims", "iterations is not claimed, and so they happen by themselves (`free`)", "info", mend))
        self.ready = self._alone() and self._together()
        if not self.ready:
            self._add(unseen("and the rest", REST))
            return
        self._abort()
        self._refusal()
        self._stop()

    # ------------------------------------------------------------------------------------------------------ the trials

    def _alone(self) -> bool:
        config = engine_config(self.target.info.claims, seqs=SEQS)
        trial = self._trial("one request", config, self._asked(1, 40, 6), ask=True)
        if trial is None or not self._judge(findings.judge_form(trial)):
            return False
        if not self._judge(findings.judge_text(trial, self.language)):
            return False
        self._judge(findings.judge_busy(trial))
        self._judge(findings.judge_gauges(trial, claimed=self.claims("gauges")))
        return self._judge(findings.judge_log(trial, stepped=self.stepped, wire=self.wire))

    def _together(self) -> bool:
        config = engine_config(self.target.info.claims, seqs=SEQS, budget=2 if self.claims("chunked_prefill") else 8)
        long = min(4 * config.block_size, config.max_model_len - 8)
        requests = [self._asked(2 + place, long - 5 * place, 4 + place) for place in range(SEQS + 2)]
        trial = self._trial("several requests", config, *requests)
        if trial is None or not self._judge(findings.judge_form(trial)):
            return False
        log = findings.judge_log(trial, stepped=self.stepped, wire=self.wire)
        self._judge(map(findings.only_together, (*findings.judge_text(trial, self.language), *log)))
        self._judge(findings.judge_limits(trial, config))
        self.measured = findings.measure(trial)
        return True

    def _abort(self) -> None:
        config = engine_config(self.target.info.claims, seqs=SEQS)
        requests = [self._asked(20, 30, 60), self._asked(21, 30, 8)]
        trial = self._trial("a request that is aborted", config, *requests, abort="r20", after=2)
        if trial is not None:
            self._judge(findings.judge_abort(trial, claimed=self.claims("cancel")))

    def _refusal(self) -> None:
        if not value_of(self.target.info.claims, "max_model_len"):
            return
        config = engine_config(self.target.info.claims, seqs=SEQS)
        requests = [self._asked(30, config.max_model_len + 10, 4), self._asked(31, 30, 4)]
        trial = self._trial("a prompt that is too long", config, *requests)
        if trial is not None:
            self._judge(findings.judge_refusal(trial))

    def _stop(self) -> None:
        if not self.claims("stop_tokens") or self.target.info.claims.get("text") == "unknown":
            return
        prompt = self.language.prompt(40, 30)
        stop = (self.language.continuation(prompt, 4)[3],)
        asked = Generation("r40", 40, prompt, 20, stop=stop)
        trial = self._trial("a stop token", engine_config(self.target.info.claims, seqs=SEQS), asked)
        if trial is not None:
            self._judge(findings.judge_text(trial, self.language))

    # ------------------------------------------------------------------------------------------------------- what is used

    def _asked(self, serial: int, length: int, count: int) -> Generation:
        return Generation(f"r{serial}", serial, self.language.prompt(serial, length), count)

    def _trial(self, what: str, config: EngineConfig, *requests: Generation, **how: Any) -> Trial | None:
        """Drive an engine of this configuration, and close it; None if a verb broke or hung, which has been noted."""
        self.say(what)
        engine = self._opened(config)
        if engine is None:
            return None
        driver = Driver(engine, stepped=self.stepped)
        try:
            return driver.drive(*requests, **how)
        except Hung as hung:
            says = f"`{hung.verb}` has not returned while this was tried: {what}"
            self._add(wrong(hung.verb, says, hung.verb, "a step that has nothing to do returns at once"))
        except Broken as broken:
            gone = isinstance(broken.__cause__, EngineGone)
            mend = "the engine ended: its last output says why" if gone else "raise EngineGone if the engine has ended"
            self._failed(broken.verb, broken, mend)
        finally:
            self._closed(driver)
        return None

    def _opened(self, config: EngineConfig) -> Any:
        if self.target.engine is None:
            self._add(wrong("engine", "the target has no verb `engine`", "info", "engine(config) opens an engine"))
            return None
        try:
            with within("DEPLOY_S", f"`engine` of {self.target.info.name}"):
                engine = self.target.engine(config)
        except Unsupported as lack:
            says = f"`engine` refuses a configuration that the claims allow: Unsupported({lack.capability!r}) for {config}"
            self._add(wrong("engine", says, "engine", "claim less, or open it"))
            return None
        except TargetError as error:
            self._failed("engine", Broken("engine", error), "the message says what to do; what cannot be had is Unsupported")
            return None
        except Exception as error:
            mend = "raise Unsupported('...') for what the engine cannot have, TargetError if it is broken"
            self._failed("engine", Broken("engine", error), mend)
            return None
        self.last = engine
        if lacking := [verb for verb in VERBS if not callable(getattr(engine, verb, None))]:
            says = f"the engine has no {', '.join(f'`{verb}`' for verb in lacking)}"
            self._add(
                wrong(
                    "engine", says, "engine", "docs/adapters.md has the six verbs; one that knows nothing returns [] or {}"
                )
            )
            return None
        return engine

    def _closed(self, driver: Driver) -> None:
        try:
            driver.close()
        except Hung:
            self._add(wrong("close", "`close` has not returned", "close", "end what it waits for"))
        except Broken as broken:
            self._failed("close", broken, "let it return, whatever the state of the engine")

    def _judge(self, found: Iterable[Finding]) -> bool:
        """Keep findings; return whether one can go on."""
        rows = list(found)
        self._add(*rows)
        return not self._is_wrong(*(row.check for row in rows))

    def _measured(self) -> tuple[Measured, ...]:
        return self.measured
