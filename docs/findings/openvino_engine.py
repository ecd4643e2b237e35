"""Shows what the continuous batching of OpenVINO GenAI does in some situations (docs/stacks/openvino.md).

    python openvino_engine.py [fork | unwritten | swap | hoard | limit | cancel | never-fits | duplicate | prompts |
                               beginning]

Needs `pip install openvino-genai`; nothing is downloaded. The model is made here: one layer of attention that weighs all
entries of the KV cache alike, so that the next token is a checksum of the whole context.
"""

import pathlib
import sys
import tempfile
from typing import Any

import numpy as np
import openvino as ov
import openvino_genai as genai
from openvino import opset13 as ops

WORDS, HEAD = 256, 16  # tokens are numbers below 256: four digits in base 4
DIGITS = np.array([[word // 4**place % 4 for place in range(4)] for word in range(WORDS)], np.float32)
WEIGHTS = np.zeros((WORDS, HEAD), np.float32)
WEIGHTS[:, :4] = np.random.default_rng(1).permutation(DIGITS)
SCORES = np.zeros((WORDS, HEAD), np.float32)
SCORES[:, :4] = 2 * DIGITS
PROPERTIES = {"KV_CACHE_PRECISION": "f32", "INFERENCE_PRECISION_HINT": "f32"}


def model() -> ov.Model:
    """Return the graph, in the form in which a language model is exported for OpenVINO GenAI."""

    def given(name: str, kind: Any, *shape: int) -> Any:
        node = ops.parameter(shape, kind, name=name)
        node.output(0).set_names({name})
        return node

    def whole(number: Any) -> Any:
        return ops.constant(np.asarray(number, np.int64))

    def kept(new: Any, name: str) -> Any:
        nothing = ops.broadcast(np.float32(0), ops.concat([ops.shape_of(beam), whole([1, 0, HEAD])], 0))
        name = f"past_key_values.0.keypresent.0.{name}"
        past = ops.read_value(nothing, name, ov.Type.f32, ov.PartialShape([-1, 1, -1, HEAD]))
        all_ = ops.concat([ops.gather(past, beam, whole(0)), new], 2)
        sinks.append(ops.assign(all_, name))
        return all_

    ids, mask, places = (given(name, ov.Type.i64, -1, -1) for name in ("input_ids", "attention_mask", "position_ids"))
    beam, sinks = given("beam_idx", ov.Type.i32, -1), []
    entry = ops.reshape(ops.gather(ops.constant(WEIGHTS), ids, whole(0)), whole([0, 0, 1, HEAD]), special_zero=True)
    value = ops.transpose(entry, whole([0, 2, 1, 3]))
    zero = ops.multiply(value, np.float32(0))
    unseen = ops.unsqueeze(ops.multiply(ops.convert(ops.equal(mask, whole(0)), "f32"), np.float32(-65504)), whole([1, 2]))
    mean = ops.scaled_dot_product_attention(zero, kept(zero, "key"), kept(value, "value"), unseen)
    mean = ops.reshape(ops.transpose(mean, whole([0, 2, 1, 3])), whole([0, 0, HEAD]), special_zero=True)
    count = ops.unsqueeze(ops.convert(ops.add(places, whole(1)), "f32"), whole(-1))
    sums = ops.floor_mod(ops.floor(ops.add(ops.multiply(mean, count), np.float32(0.5))), np.float32(4))
    bias = ops.constant(-(DIGITS * DIGITS).sum(1))
    logits = ops.result(ops.add(ops.matmul(sums, ops.constant(SCORES), transpose_a=False, transpose_b=True), bias))
    logits.output(0).set_names({"logits"})
    return ov.Model([logits], sinks, [ids, mask, places, beam])


FOLDER = pathlib.Path(tempfile.mkdtemp())
ov.save_model(model(), FOLDER / "openvino_model.xml", compress_to_fp16=False)
(FOLDER / "config.json").write_text('{"model_type": "llama"}')
(FOLDER / "generation_config.json").write_text('{"eos_token_id": 999}')


class Engine:
    """A pipeline, and what came out of it."""

    def __init__(self, **settings: Any) -> None:
        config = genai.SchedulerConfig()
        for name, value in settings.items():
            setattr(config, name, value)
        self.pipe = genai.ContinuousBatchingPipeline(FOLDER, config, "CPU", PROPERTIES)
        self.handles: dict[str, Any] = {}
        self.tokens: dict[str, list[int]] = {}

    def send(self, name: str, length: int | list[int], count: int, number: int | None = None, samples: int = 1) -> None:
        """Send a prompt of so many tokens, for so many more; of several samples the first one is kept."""
        config = genai.GenerationConfig()
        config.max_new_tokens = count
        if samples > 1:
            config.do_sample, config.top_k, config.num_return_sequences = True, 1, samples
        prompt = [(7 * ord(name[-1]) + 3 * place) % WORDS for place in range(length)] if isinstance(length, int) else length
        number = len(self.handles) if number is None else number
        self.tokens[name] = []
        self.handles[name] = self.pipe.add_request(number, ov.Tensor(np.array([prompt], np.int64)), config)

    def step(self, count: int = 500) -> None:
        """Run so many iterations, or until there is no work."""
        for _ in range(count):
            if not self.pipe.has_non_finished_requests():
                return
            self.pipe.step()
            for name, handle in self.handles.items():
                while handle.can_read():
                    for sample, found in handle.read().items():
                        self.tokens[name] += found.generated_ids if sample == 0 else []

    def tell(self) -> None:
        for name, handle in self.handles.items():
            print(f"  {name}: {len(self.tokens[name])} tokens, {handle.get_status().name}")


def unwritten() -> None:
    """With prefix caching, a prompt is cancelled after its first chunk; then one comes that begins alike."""
    shared = [3 * place % WORDS for place in range(160)]
    for chunk in (48, 64):
        texts = []
        for cancelled in (False, True):
            engine = Engine(num_kv_blocks=64, enable_prefix_caching=True, max_num_batched_tokens=chunk)
            if cancelled:
                engine.send("a", [*shared, *range(32)], 8)
                engine.step(1)
                engine.handles.pop("a").cancel()
            engine.send("b", [*shared, *range(100, 132)], 8)
            engine.step()
            texts.append(engine.tokens["b"])
        print(f"  chunks of {chunk} tokens: b: {texts[1]}, alone {texts[0]}")


def fork() -> None:
    """With prefix caching, a prompt of 40 tokens ends; then two come that both go on from there, differently."""
    prompt = [3 * place % WORDS for place in range(40)]
    follow = {name: prompt + [(seed + 5 * place) % WORDS for place in range(30)] for name, seed in (("b", 7), ("c", 100))}
    alone: dict[str, list[int]] = {}
    for name, tokens in follow.items():
        engine = Engine(num_kv_blocks=64, enable_prefix_caching=True)
        engine.send(name, tokens, 8)
        engine.step()
        alone |= engine.tokens
    for split in (True, False):
        engine = Engine(num_kv_blocks=64, enable_prefix_caching=True, dynamic_split_fuse=split)
        engine.send("a", prompt, 1)
        engine.step()
        for name, tokens in follow.items():
            engine.send(name, tokens, 8)
        engine.step()
        print(f"  dynamic_split_fuse={split}:")
        for name in follow:
            print(f"  {name}: {engine.tokens[name]}, alone {alone[name]}")


def hoard() -> None:
    """Prefix caching, 8 blocks: a prompt of 100 tokens ends. Then one of 200 comes, and one that begins as the first did."""
    first = [3 * place % WORDS for place in range(100)]
    for caching in (False, True):
        engine = Engine(num_kv_blocks=8, enable_prefix_caching=caching)
        engine.send("a", first, 1)
        engine.step()
        engine.send("b", 200, 8)
        engine.send("c", first + [1] * 40, 8)
        engine.step()
        print(f"  enable_prefix_caching={caching}:")
        engine.tell()


def swap() -> None:
    """Five requests and 6 blocks: a prompt ends late, alongside a later request that has begun its text."""
    sizes = {"forks": (62, 7, 2), "ends": (10, 5, 1), "loses": (40, 12, 1), "part": (90, 4, 1), "short": (20, 12, 1)}
    alone: dict[str, list[int]] = {}
    for name, (length, count, samples) in sizes.items():
        engine = Engine(num_kv_blocks=6)
        engine.send(name, [(ord(name[0]) + 3 * place) % WORDS for place in range(length)], count, None, samples)
        engine.step()
        alone |= engine.tokens
    engine = Engine(num_kv_blocks=6)
    for name, (length, count, samples) in sizes.items():
        engine.send(name, [(ord(name[0]) + 3 * place) % WORDS for place in range(length)], count, None, samples)
    engine.step()
    for name in ("part", "short"):
        print(f"  {name}: {engine.tokens[name][:5]}, alone {alone[name][:5]}")


def limit() -> None:
    """Eight short requests with max_num_seqs of 2, and how many of the eight are scheduled at once."""
    for split in (True, False):
        engine = Engine(num_kv_blocks=64, max_num_seqs=2, dynamic_split_fuse=split)
        for name in "abcdefgh":
            engine.send(name, 20, 8)
        most = 0
        while engine.pipe.has_non_finished_requests():
            engine.step(1)
            most = max(most, engine.pipe.get_metrics().scheduled_requests)
        print(f"  dynamic_split_fuse={split}: {most}")


def cancel() -> None:
    """One request runs and another waits behind it, for its place or for blocks. Then the first is cancelled."""
    for why, settings, length in (
        ("it waits for a place", {"num_kv_blocks": 64, "max_num_seqs": 1, "dynamic_split_fuse": False}, 20),
        ("it waits for blocks", {"num_kv_blocks": 4}, 100),
    ):
        print(f"  {why}:")
        engine = Engine(**settings)
        engine.send("a", 60, 60)
        engine.send("b", length, 8)
        engine.step(5)
        engine.handles["a"].cancel()
        engine.step()
        engine.tell()


def never_fits() -> None:
    """A prompt needs 7 blocks where there are 4. Two small requests come before and behind it."""
    engine = Engine(num_kv_blocks=4)
    engine.send("before", 30, 20)
    engine.send("large", 200, 8)
    engine.send("behind", 20, 8)
    engine.step()
    engine.tell()


def duplicate() -> None:
    """A request comes whose ID another one has; a third one has an ID of its own."""
    engine = Engine(num_kv_blocks=64)
    engine.send("other", 20, 30, 1)
    engine.send("first", 20, 30, 7)
    engine.step(5)
    engine.send("second", 30, 30, 7)
    for _ in range(3):
        try:
            engine.step()
        except RuntimeError as error:
            print(f"  step: {str(error).splitlines()[0]}")
    engine.tell()


def prompts() -> None:
    """Without dynamic_split_fuse, a prompt is longer than max_num_batched_tokens; another request runs."""
    engine = Engine(num_kv_blocks=64, dynamic_split_fuse=False, max_num_batched_tokens=64, max_num_seqs=4)
    engine.send("before", 20, 20)
    engine.step(5)
    engine.send("long", 100, 8)
    for _ in range(3):
        try:
            engine.step()
        except RuntimeError as error:
            print(f"  step: {' '.join(str(error).split())[-130:]}")
    engine.tell()


def beginning() -> None:
    """Prefix caching, 12 blocks: a prompt of 8 comes, another of 3 to 8, and the first again, at one block a step."""
    for blocks in (3, 4, 5, 6, 8):
        engine = Engine(num_kv_blocks=12, enable_prefix_caching=True, max_num_batched_tokens=32)
        steps = []
        for name, length in (("a", 8), ("b", blocks), ("a", 8)):
            engine.send(name, 32 * length - 2, 2, number=len(steps))
            steps.append(0)
            while not engine.tokens[name]:
                engine.step(1)
                steps[-1] += 1
            engine.step()
        print(f"  steps to the first token: {steps[0]}, then {steps[1]} for the other, then {steps[2]}")


CASES = {"fork": fork, "unwritten": unwritten, "swap": swap, "hoard": hoard, "limit": limit, "cancel": cancel,
         "never-fits": never_fits, "duplicate": duplicate, "prompts": prompts,
         "beginning": beginning}  # fmt: skip
for word in sys.argv[1:] or CASES:
    print(f"{word}: {CASES[word].__doc__}")
    CASES[word]()
