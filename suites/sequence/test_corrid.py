"""Correlation IDs of every type and size, and the types of the control inputs."""

from dataclasses import replace
from string import ascii_lowercase

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Send
from batchproof.suites.sequence.steps import behind_plug, claimed, direct, oldest, turn, turns
from batchproof.targets.claims import value_of

NUMBERS, NARROW = (direct(), oldest()), (direct(id_type="TYPE_UINT32"), oldest(id_type="TYPE_UINT32"))
TEXTS = direct(id_type="TYPE_STRING"), oldest(id_type="TYPE_STRING")
SHORT_NS = 200 * MS  # for sequences without an END
SHORT = direct(size=8, max_sequence_idle_ns=SHORT_NS), oldest(size=8, candidates=8)
CONFUSED = (  # 5, and what is 5 to a hash, a fold, a float or a number of fewer bits; and two that are one as a float
    5, (1 << 8) + 5, (1 << 16) + 5, (1 << 24) + 5, (1 << 31) + 4, (1 << 31) + 5, (1 << 32) + 4, (1 << 32) + 5, 5 << 32,
    (1 << 53) + 4, (1 << 53) + 5, (1 << 61) + 4, (1 << 63) + 5,
)  # fmt: skip
FORMS = (("\u00e9", "e\u0301"), ("\u212a", "K"), ("\uff15", "5"), ("\u00df", "ss"), ("\ufb01", "fi"))  # of one text each
ALIKE = (*(f"{letters:x<128}"[: 128 - len(letters.encode()) + len(letters)] for one, other in FORMS
           for letters in (one + other, other + one)), f" {'x' * 127}", f"{'x' * 127} ")  # fmt: skip
WIDE = direct(size=16), oldest(size=16, candidates=16)
UNTOLD = direct(controls=("START", "END", "READY")), oldest(controls=("START", "END", "READY"))
WIDE_TEXTS = direct(size=16, id_type="TYPE_STRING"), oldest(size=16, candidates=16, id_type="TYPE_STRING")
SHORT_TEXTS = tuple(replace(one, sequence=replace(one.sequence, id_type="TYPE_STRING")) for one in SHORT)
ENDS = {
    "TYPE_UINT64": (1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1),
    "TYPE_INT64": (1, (1 << 63) - 1),
    "TYPE_UINT32": (1, (1 << 32) - 1),
    "TYPE_INT32": (1, (1 << 31) - 1),
}
TYPED = tuple((direct(id_type=type_), oldest(id_type=type_)) for type_ in ENDS)
FLAGS = tuple(kind(flag_type=f"TYPE_{name}") for kind in (direct, oldest) for name in ("INT32", "FP32", "BOOL"))


def under(*ids):
    """Send two requests under each of these IDs, one after another: a.0, a.1, b.0 and so on."""
    for letter, one in zip("abcd", ids, strict=False):
        for number in range(2):
            yield Send(f"{letter}.{number}", sequence=one, start=not number, end=bool(number))
            yield Answered((f"{letter}.{number}",))


def begin(*ids):
    """Return the first request under each of these IDs: a, b and so on."""
    return tuple(Send(letter, sequence=one, start=True) for letter, one in zip("abcd", ids, strict=False))


def by_turns(ids):
    """Send three requests under each of these IDs by turns: a.0, b.0, a.1 and so on; the third has END.

    Of the second ones, each is sent when the one before is answered, so that it runs beside slots that have none.
    """
    for number in range(3):
        sends = [
            Send(f"{letter}.{number}", sequence=one, start=number == 0, end=number == 2)
            for letter, one in zip(ascii_lowercase, ids, strict=False)
        ]
        for rest in [[one] for one in sends] if number == 1 else [sends]:
            yield from (*rest, Answered(tuple(one.name for one in rest)))


def together(claims, configs, *ids, **plug):
    """Return a configuration, and a script in which the first request under each ID waits behind a plug.

    With `oldest`, or where a batch does not grow while the model is busy, a batcher may stage the first of them alone, so
    that nothing follows from a batch: there they go by turns.
    """
    config = claimed(claims, *configs)[0]
    meet = config.sequence.strategy == "direct" and value_of(claims, "late_binding")
    return config, behind_plug(*begin(*ids), **plug) if meet else tuple(by_turns(ids))


def strange(sequence):
    """Return a request whose correlation ID the model cannot have, and a wait for what becomes of it."""
    return (Send("strange", sequence=sequence, start=True, end=True), Answered(("strange",)))


@pytest.mark.rule("SB-CORRID-001")
def test_numbers(claims, drive, judge):
    """The model is told the correlation ID that was sent, also at the ends of the range of its type"""
    for configs, ids in zip(TYPED, ENDS.values(), strict=True):
        for config in claimed(claims, *configs):
            judge(drive(config, tuple(under(*ids))))


@pytest.mark.rule("SB-CORRID-002")
def test_strings(claims, drive, judge):
    """The model is told a correlation ID that is a string as it was sent"""
    judge(drive(claimed(claims, *TEXTS)[0], tuple(under("a", "user 17/chat 3", "straße 大", "x" * 100))))


@pytest.mark.rule("SB-CORRID-003")
def test_longest(claims, drive, judge):
    """A correlation ID of 128 characters is served, and the model is told all of it"""
    judge(drive(claimed(claims, *TEXTS)[0], tuple(under("0123456789abcdef" * 8))))


@pytest.mark.rule("SB-CORRID-004")
def test_beyond_32_bits(claims, drive, judge):
    """Two correlation IDs that differ only beyond their first 32 bits are two sequences"""
    judge(drive(*together(claims, SHORT, 5, (1 << 32) + 5, (1 << 63) + 5, (1 << 63) + 6)))


@pytest.mark.rule("SB-CORRID-005")
def test_case(claims, drive, judge):
    """Two correlation IDs that differ only in case, or in their last character, are two sequences"""
    judge(drive(*together(claims, SHORT_TEXTS, "s" * 128, "S" * 128, "s" * 127 + "t", sequence="p" * 128)))


@pytest.mark.rule("SB-CORRID-006")
def test_wrong_type(claims, drive, judge):
    """A correlation ID of the wrong type is refused and never executed"""
    judge(drive(claimed(claims, *NUMBERS)[0], strange("abc")))
    judge(drive(claimed(claims, *TEXTS)[0], strange(-7)))


@pytest.mark.rule("SB-CORRID-007")
def test_wrong_type_beside(claims, drive, judge):
    """A correlation ID of the wrong type harms no other sequence"""
    around = (*turn([5, 6], 0), *strange("abc"), *turn([5, 6], 1), *turn([5, 6], 2, last=2))
    judge(drive(claimed(claims, *NUMBERS)[0], around))


@pytest.mark.rule("SB-CORRID-008")
def test_too_long(claims, drive, judge):
    """A correlation ID of more than 128 characters is refused, and the message names the limit"""
    judge(drive(claimed(claims, *TEXTS)[0], strange("x" * 129)))


@pytest.mark.rule("SB-CORRID-009")
def test_flags(claims, drive, judge):
    """START, END and READY are told as 0 or 1 of the type that the model asks for: int32, fp32 or bool"""
    for config in claimed(claims, *FLAGS):
        judge(drive(config, turns([5, 6, 7], 3)))


@pytest.mark.rule("SB-CORRID-010")
def test_too_large(claims, drive, judge):
    """A correlation ID beyond the range of the model's type is refused"""
    judge(drive(claimed(claims, *NARROW)[0], strange((1 << 32) + 5)))


@pytest.mark.rule("SB-CORRID-011")
def test_number_and_string(claims, drive, judge):
    """A number and a string that looks like it are two correlation IDs"""
    def send(name, sequence, **asked):
        return Send(name, sequence=sequence, **asked), Answered((name,))

    opened = (*send("a.0", 7, start=True), *send("strange", "7"), *send("b.0", "7", start=True))
    for config in claimed(claims, *UNTOLD):
        judge(drive(config, (*opened, *send("a.1", 7, end=True), *send("b.1", "7"), *send("b.2", "7", end=True))))


@pytest.mark.rule("SB-CORRID-012")
def test_confused(claims, drive, judge):
    """Correlation IDs that a hash, a fold or a narrower number would confuse are different sequences"""
    for config in claimed(claims, *WIDE):
        judge(drive(config, tuple(by_turns(CONFUSED))))


@pytest.mark.rule("SB-CORRID-013")
def test_alike(claims, drive, judge):
    """Correlation IDs that a cut, a trim or a normal form of Unicode would confuse are different sequences"""
    judge(drive(claimed(claims, *WIDE_TEXTS)[0], tuple(by_turns(ALIKE))))
