"""Adapters of engines, each with one mistake that people make. The engine is that of the skeleton."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from batchproof.commands.new import skeleton
from batchproof.targets.engines import EngineGone, Output
from batchproof.targets.protocol import TargetInfo

sys.path.insert(0, str(Path(str(next(iter(skeleton.__path__)))) / "engine"))
from example_adapter import CLAIMS, Opened

sys.path.pop(0)


def target(opened: type[Opened], **claims: Any) -> type:
    """Return a target with this engine."""
    info = TargetInfo("wrong", "1", "wrong", claims={**CLAIMS, **claims}, discipline="continuous")
    return type("Wrong", (), {"info": info, "engine": opened})


class SaysEverything(Opened):
    """Each output has the whole text so far."""

    said: tuple[int, ...] = ()

    def step(self):
        outputs, busy = super().step()
        for one in outputs:
            self.said += one.tokens
        return [replace(one, tokens=self.said) for one in outputs], busy


class ForgetsNames(Opened):
    """Outputs have an ID of the engine's own."""

    def step(self):
        outputs, busy = super().step()
        return [replace(one, name=f"request-{one.name}") for one in outputs], busy


class OwnWords(Opened):
    """Ends are the engine's words."""

    def step(self):
        outputs, busy = super().step()
        return [replace(one, end="max_tokens" if one.end else "") for one in outputs], busy


class NeverEnds(Opened):
    """No output has an end."""

    def step(self):
        outputs, busy = super().step()
        return [replace(one, end="") for one in outputs], busy


class EndsTwice(Opened):
    """The end is given with the last token and behind it."""

    def step(self):
        outputs, busy = super().step()
        return [*outputs, *(Output(one.name, end=one.end) for one in outputs if one.end)], busy


class NotAPair(Opened):
    """`step` returns the outputs alone."""

    def step(self):
        return super().step()[0]


class NeverBusy(Opened):
    """No work is ever left."""

    def step(self):
        return super().step()[0], False


class AlwaysBusy(Opened):
    """Work is always left."""

    def step(self):
        return super().step()[0], True


class NoLog(Opened):
    """There is no log."""

    def __init__(self, config):
        super().__init__(config)
        self.log = list


class LogAgain(Opened):
    """The log is given from its beginning each time."""

    def __init__(self, config):
        super().__init__(config)
        lines: list[Any] = []
        self.log = lambda: [lines.extend(self.cache.log()), list(lines)][1]


class TwoSteps(Opened):
    """A step is two iterations."""

    def step(self):
        first, _ = super().step()
        then, busy = super().step()
        return first + then, busy


class AnyNumber(Opened):
    """The sequence limit does not reach the engine."""

    def __init__(self, config):
        super().__init__(replace(config, max_num_seqs=64, max_num_batched_tokens=640))


class Raises(Opened):
    """A refusal is an exception."""

    def submit(self, request):
        self.engine.add(request.name, request.prompt, request.max_tokens, request.stop)


class Chokes(Opened):
    """To take back what nobody sent is an exception."""

    def abort(self, name):
        if not self.engine.abort(name):
            raise KeyError(name)


class TakesNothingBack(Opened):
    """An abort is forgotten."""

    def abort(self, name):
        pass


class IgnoresStops(Opened):
    """Stop tokens are not passed on."""

    def submit(self, request):
        super().submit(replace(request, stop=()))


class OwnGauges(Opened):
    """Gauges have the engine's names."""

    def gauges(self):
        return {"num_running": 1.0}


class NoGauges(Opened):
    """There is no verb `gauges`."""

    gauges = None  # type: ignore[assignment]


class OtherModel(Opened):
    """The model is not the witness."""

    def __init__(self, config):
        super().__init__(config)
        self.engine.model = lambda rows: [token + 1 for token in self.cache.run(rows)]


class Shifted(Opened):
    """The model gets every token one place late."""

    def __init__(self, config):
        super().__init__(config)
        self.engine.model = lambda rows: self.cache.run([(tokens, start + 1, blocks) for tokens, start, blocks in rows])


class Dies(Opened):
    """The engine is gone in its third step."""

    steps = 0

    def step(self):
        self.steps += 1
        if self.steps == 3:
            raise EngineGone("out of memory: the last words")
        return super().step()


class Fussy(Opened):
    """It refuses what it claims."""

    def __init__(self, config):
        raise ValueError(f"no such block size: {config.block_size}")


class MixesUp(Opened):
    """With several requests, each gets the next one's token: the engine's fault, and not the adapter's."""

    def __init__(self, config):
        super().__init__(config)

        def turned(rows):
            said = self.cache.run(rows)
            return [*said[1:], *said[:1]]

        self.engine.model = turned


class RunsOn(Opened):
    """It iterates by itself, and nothing holds it: a text is over when the first of it is read."""

    def step(self):
        outputs, busy = super().step()
        while busy:
            more, busy = super().step()
            outputs += more
        return outputs, busy
