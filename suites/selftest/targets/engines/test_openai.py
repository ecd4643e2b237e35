"""A server that somebody else runs: what is found out about it, what its faults lead to, and that no key is ever shown."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from batchproof.fixtures.driving.generating import Generating
from batchproof.fixtures.judging.checkers import checkers
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.command_line import PATIENT
from batchproof.suites.selftest.targets.engines.openai_server import Server
from batchproof.targets import resolve
from batchproof.targets.claims import problems
from batchproof.targets.engines.openai import KEY, words
from batchproof.targets.protocol import Misuse, TargetError, UnknownTarget, Unsupported
from batchproof.targets.witness.languages import TextUnknown, language_named

CONFIG = EngineConfig(block_size=16)


class NoStalls:
    """A host that never stalls."""

    def since(self, _start_ns):
        return ()


def found(server):
    return resolve(f"openai:{server.url}")


def driven(server, wait_s=20.0):
    """Return what drives a client of the server."""
    target = found(server)
    return Generating(target.engine(CONFIG), CONFIG, target.info.claims, int(wait_s * 1e9), NoStalls())


def several(server, count=3):
    """Return the evidence of some requests at once."""
    on = driven(server)
    on.send(*(f"r{place}" for place in range(count)), max_tokens=5)
    return on.generations()


def judged(rule, evidence):
    judgement = checkers()[rule](evidence)
    return judgement.verdict, judgement.actual


def test_what_is_found_out_about_a_server():
    """Its model, what its streams tell of tokens, and whether a prompt may have several continuations."""
    with Server() as server:
        target = found(server)
        info = target.info

    assert (info.name, info.version, info.sight, info.discipline) == ("openai", "served", "wire", "continuous")
    assert info.reached == f"openai:{server.url}"
    assert problems(info.claims) == []
    assert (info.claims["text"], info.claims["samples"]) == ("unknown", True)


@pytest.mark.parametrize(
    ("fault", "as_ids", "field"),
    [
        ("", True, "return_token_ids"),
        ("only texts", False, "logprobs"),
        ("only logprobs", True, "logprobs"),
        ("as in chats", True, "logprobs"),
    ],
    ids=["ids", "texts", "logprobs", "content"],
)
def test_the_manner_of_a_server(fault, as_ids, field):
    """Token IDs where it takes them and gives them; else texts, and the tokens of logprobs."""
    with Server(fault) as server:
        evidence = several(server)
        asked = server.served[-1]

    assert isinstance(asked["prompt"], list) is as_ids
    assert field in asked
    assert (asked["temperature"], asked["stream"], asked["model"]) == (0, True, "served")
    assert judged("CB-END-001", evidence) == (Verdict.PASS, "3 texts have the requested length")
    assert judged("CB-END-002", evidence)[0] is Verdict.PASS


def test_n_is_tried():
    """A server that refuses it does not claim samples."""
    with Server("only one") as server:
        assert found(server).info.claims["samples"] is False


@pytest.mark.parametrize(
    ("fault", "rule", "said"),
    [
        ("garbage", "CB-END-001", "r0 ended with error: the stream is not that of the OpenAI API: what?"),
        ("not JSON", "CB-END-001", "r0 ended with error: the stream is not that of the OpenAI API: data: {..."),
        ("not a completion", "CB-END-001", 'r0 ended with error: the stream is not that of the OpenAI API: {"a": 1}'),
        ("no last chunk", "CB-END-002", "r0 got no end, and 4 tokens"),
        ("twice", "CB-END-002", "r0 ended 2 times: length, stop"),
        ("after the end", "CB-END-002", "r0 got 1 tokens after its end"),
        ("short", "CB-END-001", "r0 got 4 tokens of 5"),
        ("fails", "CB-END-001", "r0 ended with error: 500"),
    ],
)
def test_a_fault_has_its_verdict(fault, rule, said):
    """Each is named with the request and what the server said."""
    with Server(fault) as server:
        verdict, observed = judged(rule, several(server))

    assert (verdict, observed[: len(said)]) == (Verdict.FAIL, said)


def test_a_text_may_end_by_itself():
    """Nobody knows when such a model ends; but a text that ends by its limit has reached it."""
    with Server("short") as server:
        evidence = several(server)
    reasons = [end._replace(reason="stop") for end in evidence.requests[0].ends]
    itself = replace(evidence.requests[0], ends=tuple(reasons))

    assert judged("CB-END-001", replace(evidence, requests=(itself,)))[0] is Verdict.PASS


@pytest.mark.parametrize(("fault", "verdict"), [("", Verdict.PASS), ("company", Verdict.FAIL)])
def test_a_greedy_text_is_the_same_in_company(fault, verdict):
    """It is compared with what the same prompt got alone."""
    with Server(fault, pace_s=0.01) as server:
        on = driven(server)
        on.send("same0", length=16, max_tokens=8)
        on.until(lambda: on.ended("same0"))
        on.send("r0", max_tokens=12)
        on.until_got("r0", 1)
        on.send("same1", "same2", prompt=on.prompt_of("same0"), max_tokens=8)

        assert judged("CB-TEXT-007", on.generations())[0] is verdict


def test_a_text_that_nobody_can_compute_is_not_judged():
    """The evidence says so, and can be kept all the same."""
    with Server() as server:
        evidence = several(server)

    with pytest.raises(TextUnknown, match="the language model is not known"):
        judged("CB-TEXT-001", evidence)
    assert type(evidence).from_json(evidence.to_json()) == evidence


def test_a_request_is_taken_back_by_going_away():
    """The connection is closed, and the request has one end. The server sees that its client has left."""
    with Server(pace_s=0.02) as server:
        on = driven(server)
        on.send("stays", "leaves", max_tokens=40)
        on.until_got("leaves", 3)
        on.abort("leaves")
        evidence = on.generations()
        seen = server.left

    assert [end.reason for end in evidence["leaves"].ends] == ["abort"]
    assert [end.reason for end in evidence["stays"].ends] == ["length"]
    assert seen == 1


def test_a_server_that_goes_away_is_said_to_be_gone():
    """Later requests say that it cannot be reached any more."""
    server = Server()
    on = driven(server)
    server.__exit__()

    on.send("r0")

    assert on.generations().gone.startswith(f"{server.url} cannot be reached any more: ")
    assert judged("CB-END-002", on.generations())[1].startswith("it was lost after 0 iterations")
    assert "cannot be reached" in on.engine._target.alive()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("openai:", "is not the address of a server: write openai:http://host:port"),
        ("openai:127.0.0.1:8000", "is not the address of a server"),
        ("openai:http://", "is not the address of a server"),
        ("openai:ftp://host:1", "is not the address of a server"),
        ("openai:http://host:port", "write openai:http://host:port"),
        ("openai:http://host:1?modl=x", "unknown option modl: choose from longest, model"),
        ("openai:http://host:1?longest=all", "longest=all is not a number of tokens"),
        ("openai:http://user:secret@host:1", "do not put a password into the address"),
    ],
)
def test_an_address_that_is_none_is_misuse(spec, said):
    """The message says what to write, and no secret."""
    with pytest.raises(UnknownTarget) as caught:
        resolve(spec)

    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "path", "said"),
    [
        ({"fault": "no list"}, "", "is not a server of the OpenAI API: its /v1/models has no list"),
        ({"fault": "no models"}, "", "is not a server of the OpenAI API: /v1/models says nothing"),
        ({}, "/nowhere", "/nowhere has no /v1/models, so it is not a server of the OpenAI API: name the address that"),
        ({"key": "k-123"}, "", "/v1/models is answered with 401: it needs a key: set BATCHPROOF_OPENAI_KEY"),
        ({"fault": "no tokens"}, "", "a text without token_ids and without logprobs: its tokens cannot be counted"),
        ({"models": []}, "", "has no model: load one first"),
        ({"models": [None]}, "", "is not a server of the OpenAI API: its /v1/models has no list"),
        ({"fault": "moved"}, "", "/v1/models is elsewhere: it is answered with 307 and '/login'"),
        ({"fault": "only chats"}, "", "has /v1/models and no /v1/completions: a server of chats only cannot be judged"),
        ({"fault": "hangs up"}, "", "closes the connection of a completion without an answer"),
        ({"models": ["a", "b"]}, "", "has a, b: choose one with --target 'openai:"),
        ({"models": ["a", "b"]}, "?model=c", "has a, b: there is no model 'c'"),
    ],
)  # fmt: skip
def test_a_server_that_cannot_be_judged_has_one_message(given, path, said):
    """It says what to do."""
    with Server(**given) as server, pytest.raises(TargetError) as caught:
        resolve(f"openai:{server.url}{path}")

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_is_not_there_is_named():
    """With the address."""
    with Server() as server:
        pass

    with pytest.raises(TargetError, match=f"{server.url} cannot be reached: .*: is the server running there"):
        found(server)


def test_a_server_that_hangs_is_given_up(monkeypatch):
    """With the variable that allows it more time."""
    monkeypatch.setenv("BATCHPROOF_CALL_S", "0.3")
    with Server("hangs") as server, pytest.raises(TargetError, match=r"takes more than 0\.3 s for 2 tokens: .*CALL_S"):
        found(server)


def test_the_address_may_have_the_version():
    """As the servers' own documentation writes it."""
    with Server(models=["a", "b"]) as server:
        target = resolve(f"openai:{server.url}/v1/?model=b")

    assert target.info.version == "b"


def test_a_wrong_key_is_named_and_not_shown(monkeypatch):
    """The server repeats it, and the message does not."""
    monkeypatch.setenv(KEY, "k-wrong")
    with Server(key="k-right") as server, pytest.raises(TargetError) as caught:
        found(server)

    assert "it does not accept the key in BATCHPROOF_OPENAI_KEY" in str(caught.value)
    assert "k-wrong" not in str(caught.value)


def test_no_report_has_the_key(tmp_path):
    """Not even of a server that repeats it in each error."""
    key = "k-very-secret-123"
    with Server("fails", key=key) as server:
        command = [
            sys.executable, "-m", "batchproof", "check", "--target", f"openai:{server.url}", "--rules", "CB-END-001",
            "--report", tmp_path / "report",
        ]  # fmt: skip
        environment = {**os.environ, KEY: key}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENT, check=False)

    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert any(b"out of order, Bearer ***" in text for text in written)
    assert key not in ran.stdout + ran.stderr
    assert not any(key.encode() in text for text in written)


def test_no_prompt_has_a_token_that_a_model_may_lack():
    """An ID beyond the vocabulary ends some servers; prompts are still different, and begin alike where they are to."""
    prompt = language_named("unknown").prompt
    prompts = [prompt(serial, 40, shared=16) for serial in range(1, 500)]

    assert {token for one in prompts for token in one} <= set(range(3, 256))
    assert len(set(prompts)) == len(prompts)
    assert len({one[:16] for one in prompts}) == 1


def test_prompts_as_texts_are_different():
    """Where only texts are taken, each prompt is another text."""
    assert len({words((one, other)) for one in range(60) for other in range(16, 60)}) == 60 * 44


def test_a_policy_cannot_be_asked_for():
    """Nothing of the server is configured."""
    with Server() as server, pytest.raises(Unsupported):
        found(server).engine(EngineConfig(policy="priority"))


@pytest.mark.parametrize(("said", "asked", "served"), [(None, "", 4096), (512, "", 512), (None, "?longest=512", 512)])
def test_no_longer_text_is_sent_than_a_server_takes(said, asked, served):
    """As it says itself, or as the user does; otherwise it is asked for any text."""
    with Server(longest=said) as server:
        target = resolve(f"openai:{server.url}{asked}")

        target.engine(EngineConfig(max_model_len=served))
        if served == 512:
            with pytest.raises(Unsupported, match="texts of more than 512 tokens"):
                target.engine(EngineConfig(max_model_len=513))


def test_misuse_is_misuse():
    """A model that is not there is the user's to change."""
    with Server() as server, pytest.raises(Misuse):
        resolve(f"openai:{server.url}?model=other")
