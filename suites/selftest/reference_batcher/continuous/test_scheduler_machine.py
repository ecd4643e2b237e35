"""The scheduler as a machine: whatever is done to it, in whatever order, the laws hold."""

from __future__ import annotations

from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from batchproof.reference_batcher.continuous import EngineConfig, Request
from batchproof.suites.selftest.reference_batcher.continuous.checked import Checked, config_of

PROMPTS = st.builds(
    lambda same, rest: (*range(100, 100 + same), *rest), same=st.integers(0, 6), rest=st.lists(st.integers(1, 3), max_size=6)
)


class Engine(RuleBasedStateMachine):
    """Adds, aborts, begins and ends iterations. `Checked` looks at the laws after each of these."""

    @initialize(config=st.builds(config_of, st.builds(Random, st.integers(0, 10_000))))
    def open(self, config: EngineConfig) -> None:
        """Any configuration."""
        self.checked = Checked(config)
        self.added = 0

    @rule(prompt=PROMPTS, most=st.integers(0, 5), priority=st.integers(0, 2), samples=st.integers(1, 2))
    def ask(self, prompt: tuple[int, ...], most: int, priority: int, samples: int) -> None:
        """Any request; one that cannot be served is refused, and nothing else is."""
        self.added += 1
        config, longest = self.checked.config, min(len(prompt) + most, self.checked.config.max_model_len) - 1
        possible = prompt and most and len(prompt) < config.max_model_len and config.blocks_of(longest) <= config.num_blocks

        refusal = self.checked.add(Request(f"r{self.added}", prompt, most, priority, samples=samples))

        assert (refusal is None) == bool(possible)

    @rule(data=st.data())
    @precondition(lambda self: self.checked.asked)
    def ask_again(self, data: st.DataObject) -> None:
        """A name that is under way is refused."""
        name = data.draw(st.sampled_from(sorted(self.checked.asked)))
        ended = all(key in self.checked.ends for key in self.checked.texts if key[0] == name)

        if not ended:
            assert self.checked.add(Request(name, (1,), 1)) == f"a request '{name}' is under way"

    @rule(data=st.data())
    @precondition(lambda self: self.checked.asked)
    def take_back(self, data: st.DataObject) -> None:
        """A request is aborted: one that waits, runs, is in the model, or has ended."""
        self.checked.abort(data.draw(st.sampled_from(sorted(self.checked.asked))))

    @rule()
    def begin_or_end(self) -> None:
        """The next half of an iteration."""
        (self.checked.end if self.checked.flying else self.checked.begin)()

    def teardown(self) -> None:
        """Everything ends, and every text is right."""
        if hasattr(self, "checked"):
            self.checked.finish()


Engine.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestEngine = Engine.TestCase
