"""Shows what the continuous batching of transformers does in eleven situations (docs/stacks/transformers.md).

    python transformers_engine.py [cancel | never-fits | empty | duplicate | reuse | one-token | starve | all-of-it]
    python transformers_engine.py async-cancel | async-full | async-reuse       # on a GPU

Needs `pip install transformers torch`; nothing is downloaded. A tiny Llama with random weights is served by the engine's own
thread, through the public methods of its manager: on the CPU, or for the last three on a GPU, with asynchronous batching.
"""

import sys
import time
from collections import defaultdict

import torch
from transformers import ContinuousBatchingConfig, GenerationConfig, LlamaConfig, LlamaForCausalLM

torch.manual_seed(1)
SIZES = {"hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1, "vocab_size": 500}
MODEL = LlamaForCausalLM(LlamaConfig(**SIZES)).eval()
FORWARD: list[float] = []  # when each iteration began
MODEL.register_forward_pre_hook(lambda *_: FORWARD.append(time.monotonic()) or time.sleep(0.005))
A, B, C = ([seed + place for place in range(12)] for seed in (20, 120, 220))


class Engine:
    """A manager with a KV cache of so many blocks of four tokens, and what came out of it so far."""

    def __init__(self, blocks: int = 200, samples: int = 1, budget: int = 64, *, ahead: bool = False) -> None:
        generation = GenerationConfig(do_sample=samples > 1, eos_token_id=-1, num_return_sequences=samples)
        batching = ContinuousBatchingConfig(
            page_size=4, num_blocks=blocks, max_batch_tokens=budget, use_async_batching=ahead, use_cuda_graph=False
        )
        self.manager = MODEL.to("cuda" if ahead else "cpu").init_continuous_batching(generation, batching)
        self.manager.start()
        self.out = defaultdict(list)

    def send(self, name: str, prompt: list[int], count: int) -> None:
        self.manager.add_request(prompt, name, count, streaming=True)

    def wait(self, seconds: float, name: str = "", count: int = 0) -> None:
        """Collect what comes out for so long, or until a request has so many tokens."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if output := self.manager.get_result(timeout=0.01):
                self.out[output.request_id].append(output)
            if name and self.out[name] and len(self.out[name][-1].generated_tokens) >= count:
                return

    def tell(self, *names: str) -> None:
        for name in names:
            last = self.out[name][-1] if self.out[name] else None
            tokens, end = (last.generated_tokens, last.error or last.status.name) if last else ([], "nothing came out")
            print(f"  {name}: {len(tokens)} tokens {tokens[:4]}, {end}")
        print(f"  the engine's thread runs: {self.manager.is_running()}")
        self.manager.stop(block=True, timeout=5, hard_stop=True)


def cancel() -> None:
    """Two requests outgrow the cache together, one is put back, and the other is cancelled. Then a third one comes."""
    engine = Engine(blocks=40)
    engine.send("a", A, 140)
    engine.send("b", B, 140)
    engine.wait(20, "a", 100)
    engine.manager.cancel_request("a")
    engine.wait(1)
    engine.send("c", C, 5)
    engine.wait(10, "c", 5)
    engine.tell("a", "b", "c")


def never_fits() -> None:
    """Two requests fit into the cache. A third one never will."""
    engine = Engine(blocks=40)
    engine.send("a", A, 60)
    engine.send("huge", list(range(200)), 5)
    engine.wait(20, "a", 60)
    engine.send("b", B, 5)
    engine.wait(3)
    engine.send("c", C, 5)
    engine.wait(3)
    engine.tell("a", "huge", "b", "c")


def empty() -> None:
    """An empty prompt comes together with another one, and another one later, alone, while nothing else begins."""
    engine = Engine()
    engine.send("a", A, 5)
    engine.send("empty", [], 5)
    engine.wait(5, "a", 5)
    engine.wait(1)
    engine.send("alone", [], 5)
    engine.wait(1)
    engine.send("b", B, 5)
    engine.wait(3)
    engine.tell("a", "empty", "alone", "b")


def duplicate() -> None:
    """A request comes whose ID another one has that is running. Alone, each would get the first tokens that are shown."""
    alone = Engine()
    alone.send("a", A, 4)
    alone.send("b", B + C, 4)
    alone.wait(3)
    alone.tell("a", "b")
    engine = Engine()
    engine.send("a", A, 60)
    engine.wait(10, "a", 10)
    before = len(engine.out["a"])
    engine.send("a", B + C, 60)
    engine.wait(5)
    engine.tell("a")
    later = [output.generated_tokens for output in engine.out["a"][before:]]
    ends = sum(output.is_finished() for output in engine.out["a"])
    begins = sorted({tuple(tokens[:4]) for tokens in later if len(tokens) > 3})
    print(f"  later outputs begin with {begins}, {ends} end of 2")


def reuse() -> None:
    """A request is cancelled, and its ID is used again at once. At the same moment comes a request with another ID."""
    engine = Engine()
    engine.send("a", A, 60)
    engine.wait(10, "a", 10)
    engine.manager.cancel_request("a")
    engine.out["a"].clear()
    engine.send("a", B + C, 5)
    engine.send("c", C, 5)
    engine.wait(5)
    engine.tell("a", "c")


def one_token() -> None:
    """Two continuations are wanted of a prompt of one token, once while another request runs, and once alone."""
    engine = Engine(samples=2)
    engine.send("a", A, 30)
    engine.wait(10, "a", 10)
    engine.send("beside", [7], 5)
    engine.wait(3)
    engine.send("alone", [7], 5)
    engine.wait(3)
    engine.send("b", B, 5)
    engine.wait(3)
    engine.tell("a", "a__child#0", "beside", "beside__child#0", "alone", "alone__child#0", "b")


def starve() -> None:
    """A request needs 52 of 64 blocks at once. Small ones of 10 to 15 blocks come all the time, never more than four."""
    engine = Engine(blocks=64, budget=256)
    small = iter(range(1000))
    for tokens in (5, 10, 15, 20):
        engine.send(f"s{next(small)}", [place % 500 for place in range(tokens, tokens + 40)], tokens)
    engine.wait(0.1)
    engine.send("big", list(range(208)), 4)
    ended = 0
    while ended < 200 and not engine.out["big"]:
        engine.wait(0.01)
        now = sum(outputs[-1].is_finished() for name, outputs in engine.out.items() if outputs and name != "big")
        for _ in range(now - ended):
            number = next(small)
            engine.send(f"s{number}", [(3 * number + place) % 500 for place in range(40)], 20)
        ended = now
    print(f"  {ended} small requests have ended")
    engine.tell("big")


def all_of_it() -> None:
    """Prefix cache, 12 blocks: a prompt of 8 comes, another of 3 to 8, and the first again, at one block an iteration."""
    for blocks in (3, 4, 5, 8):
        engine, counts = Engine(blocks=12, budget=4), []
        for name, length in (("a", 8), ("b", blocks), ("again", 8)):
            FORWARD.clear()
            engine.send(name, [(100 if name == "b" else 20) + place for place in range(4 * length - 2)], 1)
            engine.wait(5, name, 1)
            counts.append(len(FORWARD))
        print(f"  iterations to the first token: {counts[0]}, then {counts[1]} for the other, then {counts[2]}")
        engine.manager.stop(block=True, timeout=5, hard_stop=True)


def async_cancel() -> None:
    """Requests are cancelled one after another, each after 8 to 12 tokens, while another one runs."""
    engine = Engine(ahead=True)
    engine.send("a", A, 400)
    for number in range(8, 13):
        engine.send(f"b{number}", B, 60)
        engine.wait(5, f"b{number}", number)
        engine.manager.cancel_request(f"b{number}")
        engine.wait(0.5)
        if not engine.manager.is_running():
            break
    engine.tell("a", *(f"b{number}" for number in range(8, 13)))


def async_full() -> None:
    """A prompt of 12 tokens and a text of 29, whose last one needs no entry, fill all ten blocks. Another request waits."""
    for ahead in (False, True):
        engine = Engine(blocks=10, ahead=ahead)
        engine.send("a", A, 29)
        engine.wait(5, "a", 1)
        engine.send("b", B + C, 5)
        engine.wait(3, "b", 5)
        print(f"  asynchronous: {ahead}")
        engine.tell("a", "b")


def async_reuse() -> None:
    """A request is cancelled, and half a second later its ID is used again. Alone, the second would get what `b` gets."""
    engine = Engine(ahead=True)
    engine.send("b", B + C, 5)
    engine.wait(5, "b", 5)
    engine.send("a", A, 60)
    engine.wait(10, "a", 10)
    engine.manager.cancel_request("a")
    engine.wait(0.5)
    engine.out["a"].clear()
    engine.send("a", B + C, 5)
    engine.wait(3)
    for output in engine.out["a"]:
        print(f"  under the ID a: {output.generated_tokens}")
    engine.tell("a", "b")


CASES = {"cancel": cancel, "never-fits": never_fits, "empty": empty, "duplicate": duplicate, "reuse": reuse,
         "one-token": one_token, "starve": starve, "all-of-it": all_of_it}
ON_A_GPU = {"async-cancel": async_cancel, "async-full": async_full, "async-reuse": async_reuse}
CASES |= ON_A_GPU if torch.cuda.is_available() else {}
for word in sys.argv[1:] or CASES:
    print(f"{word}: {CASES[word].__doc__}")
    CASES[word]()
