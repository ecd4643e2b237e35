"""What the adapters beside it have in common: the witness as the model, and refusals."""

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets import TargetInfo
from batchproof.targets.engines import Generation, Output
from batchproof.targets.witness.paged import PagedCache


class Refused(ValueError):
    """The engine does not take a request."""


class Opened:
    """An engine with one configuration."""

    def __init__(self, engine, config: EngineConfig) -> None:
        self.cache = PagedCache(config.num_blocks, config.block_size)
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.engine, self.log = engine(self.cache, config), self.cache.log
        self.gauges = self.engine.gauges
        self.outputs: list[Output] = []

    def submit(self, request: Generation) -> None:
        try:
            if request.max_tokens < 1 or not request.prompt:
                raise Refused("a prompt and a text have at least one token")
            if len(request.prompt) >= self.longest:
                raise Refused(f"the prompt leaves no room for a text: the limit is {self.longest}")
            if self.engine.knows(request.name):
                raise Refused("there is such a request already")
            self.engine.add(request)
        except Refused as refusal:
            self.outputs.append(Output(request.name, end="refused", text=str(refusal)))

    def step(self) -> tuple[list[Output], bool]:
        self.outputs += [Output(name, tuple(tokens), end, *sample) for name, tokens, end, *sample in self.engine.step()]
        outputs, self.outputs = self.outputs, []
        return outputs, self.engine.busy

    def abort(self, name: str) -> None:
        if self.engine.abort(name):
            self.outputs.append(Output(name, end="abort"))

    def close(self) -> None:
        """There is nothing to end."""


def target(name: str, engine, claims):
    """Return the class of the target that is this engine."""

    class Target:
        info = TargetInfo(name, "1", name, claims=claims, discipline="continuous")

        def engine(self, config: EngineConfig) -> Opened:
            return Opened(engine, config)

    return Target


def ended(one, token: int, longest: int) -> str:
    """Return how a text ends with this token; "" if it goes on."""
    if token in one.stop:
        return "stop"
    return "length" if len(one.tokens) - one.prompt >= one.max_tokens or len(one.tokens) >= longest else ""
