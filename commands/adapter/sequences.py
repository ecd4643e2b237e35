"""One sequence on a stack without a dynamic batcher: its START, a request in the middle, and its END."""

from __future__ import annotations

from dataclasses import dataclass

from batchproof.commands.adapter.answers import BUILD, NO_RESPONSE, Ended
from batchproof.commands.adapter.finding import Finding, note, ok, unseen, wrong
from batchproof.commands.adapter.probe import Probe
from batchproof.reference_batcher.sequence_config import DIRECT, OLDEST
from batchproof.targets.witness.probe import Place, step

CHECK, PLACES = "sequence", "places"
STRATEGIES = {"direct": (DIRECT,), "oldest": (OLDEST,), "both": (DIRECT, OLDEST)}  # by what is claimed
WHOLE, STEPS, LONE = 1, 2, 3  # correlation IDs: of a sequence of one request, of one of three, and the first of many others
NAMES = ("START", "middle", "END")
PASSED_ON = "pass payload.sequence, payload.start and payload.end of the request on (docs/adapters.md, Sequences)"
TOLD = "call `Witness.execute_steps` with a Place for each request: without them, no rule can see what the model was told"


@dataclass(frozen=True)
class Steps:
    """One sequence. ended: how each of its requests did. serials: of the requests.

    log: whether there is one. places: what it shows that the model was told about each of them; None: it does not.
    """

    strategy: str
    ended: tuple[Ended, ...]
    serials: tuple[int, ...] = ()
    log: bool = True
    places: tuple[Place | None, ...] = ()

    @property
    def good(self) -> bool:
        """Whether each request got its own answer."""
        return all(one.answered and not one.error and not one.troubles for one in self.ended)


def steps(probe: Probe, strategy: str) -> Steps:
    """Send the requests of one sequence, each when the one before it has been answered."""
    tracks = []
    for name in NAMES:
        tracks.append(probe.send(name, sequence=STEPS, start=name == "START", end=name == "END"))
        if not probe.settled(tracks[-1]) or tracks[-1].ended().error:
            break
    ended = tuple(track.ended() for track in tracks)
    serials = tuple(track.request.serial for track in tracks)
    if probe.lacks("log"):
        return Steps(strategy, ended, serials, log=False)
    probe.wait(lambda: all(probe.entered(track) for track in tracks if track.done() and not track.ended().error))
    return Steps(strategy, ended, serials, places=tuple(_place(probe, serial) for serial in serials))


def _place(probe: Probe, serial: int) -> Place | None:
    for line in probe.lines:
        serials, places = list(line.get("serials", ())), list(line.get("places", ()))
        if serial in serials and len(places) == len(serials):
            return Place(*places[serials.index(serial)])
    return None


def judge(found: Steps) -> tuple[Finding, ...]:
    """Judge whether a sequence is served, and tell what the model was told of it."""
    for name, ended in zip(NAMES, found.ended, strict=False):
        what = f"with the strategy {found.strategy}, the {'request in the middle' if name == 'middle' else name}"
        if not ended.answered:
            says = f"{what} of a sequence was never answered"
            return (wrong(CHECK, says, "submit", "settle the Future when the answer comes"),)
        if ended.error:
            return (wrong(CHECK, f"{what} of a sequence ended with {ended.error}", "submit", PASSED_ON),)
        if ended.troubles:
            part = "submit" if NO_RESPONSE in ended.troubles[0] else "Response"
            return (wrong(CHECK, f"{what} of a sequence: {ended.troubles[0]}", part, BUILD),)
    says = f"with the strategy {found.strategy}, START, a request in the middle and END of one are answered"
    return (ok(CHECK, f"{says}, each with its own"), *_places(found))


def _places(found: Steps) -> tuple[Finding, ...]:
    if not found.log:
        return (unseen(PLACES, "there is no `log`, and so nothing shows what the model was told"),)
    told = [place for place in found.places if place is not None]
    if len(told) < len(NAMES):
        return (note(PLACES, "the log does not show what the model was told of a sequence", "Witness", TOLD),)
    slots = ", ".join(str(place.slot) for place in told)
    marks = [(place.start, place.end) for place in told]
    expected = [0]
    for serial in found.serials[:-1]:
        expected.append(step(expected[-1], serial))
    odd = [] if marks == [(1, 0), (0, 0), (0, 1)] else [f"(START, END) are {', '.join(map(str, marks))}"]
    if [place.state for place in told] != expected:
        odd.append("not each request finds the state that the one before it has left")
    if odd:
        return (note(PLACES, f"{'; '.join(odd)}: the rules about sequences judge that (slots {slots})", "Witness", TOLD),)
    says = f"slots {slots}; the model is told START and END, and each finds the state that the one before it has left"
    return (ok(PLACES, says),)
