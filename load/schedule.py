"""When requests are due: arrival processes that are computed before the run, and that one line of text makes again.

A spec is `kind:name=value,...`; durations in seconds, rates in requests per second. All randomness comes from numpy's PCG64
with the seed in the spec, so a spec gives the same schedule wherever the same numpy runs.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt

from batchproof.host.plain_files import read_plain_text
from batchproof.stats.arrays import Ints

MOST = 50_000_000  # requests in one schedule: an array of 400 MB
LARGEST_TRACE = 1 << 28  # bytes
_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LEAST_DAY_S = 1e-6
_DAWN = -math.pi / 2  # a day begins at its quietest moment
Floats = npt.NDArray[np.float64]


class ScheduleError(ValueError):
    """The spec or the trace cannot be played; the message says why."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """due_ns: int64 [n], ascending, ns from the start of the run. spec: makes it again. length_ns: 0: to the last one."""

    due_ns: Ints
    spec: str
    length_ns: int = 0

    def __post_init__(self) -> None:
        """ScheduleError unless there is a request and the times ascend from 0 on."""
        due = self.due_ns
        if due.dtype != np.int64 or due.ndim != 1 or not len(due):
            raise ScheduleError(f"{self.spec}: it has no requests" if not len(due) else "due times are a vector of int64")
        if due[0] < 0 or (np.diff(due) < 0).any():
            raise ScheduleError(f"{self.spec}: times must ascend, from 0 on")

    @property
    def count(self) -> int:
        """Requests."""
        return len(self.due_ns)

    @property
    def end_ns(self) -> int:
        """When the load ends: at the length that was asked for, or at the last request."""
        return max(self.length_ns, int(self.due_ns[-1]))

    @property
    def seconds(self) -> float:
        """How long load is offered."""
        return self.end_ns / 1e9

    @property
    def rate(self) -> float:
        """Requests per second as realised; infinite if all are due at once."""
        return self.count / self.seconds if self.end_ns else math.inf


def constant(rate: float, seconds: float) -> Schedule:
    """Evenly spaced, the first at once."""
    count = _count(rate, seconds)
    due = np.arange(max(1, round(count)), dtype=np.float64) * (1e9 / rate)
    return _schedule(due, "constant", rate=rate, seconds=seconds)


def poisson(rate: float, seconds: float, seed: int, *, exact: bool = False) -> Schedule:
    """Independent users: exponential gaps.

    exact: as many requests as `rate * seconds` says (the process conditioned on that count), so that two runs with different
    seeds offer the same load, as vLLM's normalised schedule does.
    """
    due = _renewal(lambda generator, size: generator.standard_exponential(size), rate, seconds, seed, exact=exact)
    return _schedule(due, "poisson", rate=rate, seconds=seconds, seed=seed, exact=exact)


def gamma(rate: float, seconds: float, seed: int, shape: float = 0.25, *, exact: bool = False) -> Schedule:
    """Bursts: gamma-distributed gaps; shape 1 is Poisson, below 1 is burstier (vLLM's burstiness, aiperf's smoothness).

    The squared coefficient of variation of the gaps, and the index of dispersion of counts in the long run, is 1 / shape.
    exact: as in `poisson`, by rescaling.
    """
    _positive(shape=shape)
    due = _renewal(lambda generator, size: generator.standard_gamma(shape, size) / shape, rate, seconds, seed, exact=exact)
    return _schedule(due, "gamma", rate=rate, seconds=seconds, seed=seed, shape=shape, exact=exact)


def on_off(rate: float, seconds: float, seed: int, peak: float = 3.0, quiet: float = 0.25, burst: float = 0.1) -> Schedule:
    """A two-state Markov-modulated Poisson process (MMPP2) of mean `rate`, started in its steady state.

    peak, quiet: rates in and between bursts, as multiples of the mean; peak > 1 > quiet >= 0. burst: mean seconds of a
    burst; the mean pause follows: burst * (peak - 1) / (1 - quiet).
    """
    _positive(burst=burst)
    if not peak > 1 > quiet >= 0:
        raise ScheduleError(f"on_off needs peak > 1 > quiet >= 0, not {_plain(peak)} and {_plain(quiet)}")
    generator, _ = _generator(seed), _count(rate, seconds)
    pause = burst * (peak - 1) / (1 - quiet)
    busy = generator.random() < burst / (burst + pause)
    means = (burst, pause) if busy else (pause, burst)
    rates = (peak * rate, quiet * rate) if busy else (quiet * rate, peak * rate)
    turns = 2 * (int(seconds / (burst + pause)) + 1)
    stays = np.empty((0, 2))
    while stays.sum() <= seconds:
        _checked(len(stays) * 2 + turns)
        stays = np.vstack((stays, generator.standard_exponential((turns, 2)) * means))
    ends = np.concatenate(([0.0], np.cumsum(stays)))
    expected = np.concatenate(([0.0], np.cumsum(stays * rates)))  # requests up to each end, in the mean
    total = float(np.interp(seconds, ends, expected))
    ripe = np.cumsum(generator.standard_exponential(_enough(total)))
    due = np.interp(ripe[ripe < total], expected, ends)
    spec = {"rate": rate, "seconds": seconds, "seed": seed, "peak": peak, "quiet": quiet, "burst": burst}
    return _schedule(due * 1e9, "on_off", **spec)


def diurnal(rate: float, seconds: float, seed: int, period: float = 0.0, depth: float = 0.8) -> Schedule:
    """A day and a night: a Poisson process of rate `rate * (1 - depth * cos(2 pi t / period))`.

    By thinning (Lewis and Shedler, Naval Research Logistics Quarterly 26, 1979).
    period: seconds of a day, at least a microsecond; 0: one day in the whole run. depth: in [0, 1].
    """
    if not 0 <= depth <= 1 or not (period == 0 or period >= LEAST_DAY_S):
        needs = f"diurnal needs depth in [0, 1] and period 0 or at least {LEAST_DAY_S:g}"
        raise ScheduleError(f"{needs}, not {_plain(depth)} and {_plain(period)}")
    generator = _generator(seed)
    most = _count(rate, seconds) * (1 + depth)
    ripe = np.cumsum(generator.standard_exponential(_enough(most)))
    at = ripe[ripe < most] * (seconds / most)
    level = 1 + depth * np.sin(2 * np.pi * at / (period or seconds) + _DAWN)
    due = at[generator.random(len(at)) * (1 + depth) < level]
    return _schedule(due * 1e9, "diurnal", rate=rate, seconds=seconds, seed=seed, period=period, depth=depth)


def trace(path: str | Path, unit: str = "") -> Schedule:
    """Recorded times: a text file with one time on each line, from the start; blank lines and `#` comments are skipped.

    The unit (s, ms, us or ns) is in the file's first line, `# unit: s`, or is given. Times must ascend. ScheduleError
    names the line that is wrong.
    """
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST_TRACE:
            raise ScheduleError(f"{file} has more than {LARGEST_TRACE >> 20} MiB")
        lines = read_plain_text(file).splitlines()
    except OSError as error:
        raise ScheduleError(f"cannot read the trace {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ScheduleError(f"cannot read the trace {file}: {error}") from None
    stated = lines[0].partition("unit:")[2].strip() if lines and lines[0].startswith("#") else ""
    if stated and unit and stated != unit:
        raise ScheduleError(f"{file} says that its unit is {stated}, not {unit}")
    if (stated or unit) not in _UNITS:
        raise ScheduleError(
            f"{file}: the unit is missing. Begin the file with '# unit: s' (or ms, us, ns), or say trace:path=...,unit=s"
        )
    due, last_ns = [], 0
    for number, line in enumerate(lines, 1):
        if not (text := line.partition("#")[0].strip()):
            continue
        last_ns = _time_ns(text, _UNITS[stated or unit], last_ns, f"{file}, line {number}")
        due.append(last_ns)
    return Schedule(np.array(due, np.int64), _spec("trace", path=quote(str(file)), unit=unit))


def parse(spec: str) -> Schedule:
    """Return the schedule of a spec such as `poisson:rate=2000,seconds=5,seed=7`; ScheduleError says what is wrong."""
    kind, _, rest = spec.partition(":")
    if kind not in KINDS:
        raise ScheduleError(f"unknown schedule '{kind}': choose from {', '.join(KINDS)}")
    function, given = KINDS[kind], {}
    known = inspect.signature(function).parameters
    for part in filter(None, rest.split(",")):
        name, equals, value = part.partition("=")
        if name not in known or not equals or name in given:
            raise ScheduleError(f"{kind} takes {', '.join(known)}, once each, as name=value; not '{part}'")
        given[name] = _value(name, value)
    if missing := [name for name, one in known.items() if one.default is one.empty and name not in given]:
        raise ScheduleError(f"{kind} needs {', '.join(missing)}")
    return function(**given)


KINDS: dict[str, Callable[..., Schedule]] = {
    "poisson": poisson,
    "gamma": gamma,
    "on_off": on_off,
    "constant": constant,
    "diurnal": diurnal,
    "trace": trace,
}


def _schedule(due_ns: Floats, kind: str, **params: Any) -> Schedule:
    return Schedule(due_ns.astype(np.int64), _spec(kind, **params), round(params["seconds"] * 1e9))


def _spec(kind: str, **params: Any) -> str:
    """Write down everything that is not the default."""
    known = inspect.signature(KINDS[kind]).parameters
    return f"{kind}:" + ",".join(f"{key}={_plain(value)}" for key, value in params.items() if value != known[key].default)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _value(name: str, text: str) -> Any:
    if name in {"path", "unit"}:
        return unquote(text)
    if name == "exact":
        if text not in {"true", "false"}:
            raise ScheduleError(f"exact is true or false, not '{text}'")
        return text == "true"
    try:
        return int(text) if name == "seed" else float(text)
    except ValueError:
        raise ScheduleError(f"{name} is a number, not '{text}'") from None


def _renewal(
    gaps: Callable[[np.random.Generator, int], Floats], rate: float, seconds: float, seed: int, *, exact: bool
) -> Floats:
    """Return arrival times in ns from gaps of mean 1."""
    expected, generator = _count(rate, seconds), _generator(seed)
    if exact:
        ends = np.cumsum(gaps(generator, max(1, round(expected)) + 1))
        return np.asarray(ends[:-1] * (seconds * 1e9 / ends[-1]))
    ends = np.cumsum(gaps(generator, _enough(expected)))
    while ends[-1] < expected:
        ends = np.concatenate((ends, ends[-1] + np.cumsum(gaps(generator, _enough(expected)))))
    return np.asarray(ends[ends < expected] * (1e9 / rate))


def _generator(seed: int) -> np.random.Generator:
    if seed < 0:
        raise ScheduleError(f"seed must be at least 0, not {seed}")
    return np.random.Generator(np.random.PCG64(seed))


def _count(rate: float, seconds: float) -> float:
    _positive(rate=rate, seconds=seconds)
    return _checked(rate * seconds)


def _checked(count: float) -> float:
    if count > MOST:
        raise ScheduleError(f"{count:.0f} requests are more than the {MOST} that a schedule may have")
    return count


def _enough(expected: float) -> int:
    """Return how many exponential gaps reach beyond `expected`, in all but one case in 1e20."""
    return int(expected + 10 * math.sqrt(expected)) + 60


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not (value > 0 and math.isfinite(value)):
            raise ScheduleError(f"{name} must be above 0, not {_plain(value)}")


def _time_ns(text: str, unit_ns: int, last_ns: int, where: str) -> int:
    try:
        at_ns = int(text) * unit_ns if text.isdecimal() else round(float(text) * unit_ns)
    except (ValueError, OverflowError):
        raise ScheduleError(f"{where}: '{text}' is not a time") from None
    if at_ns < last_ns:
        raise ScheduleError(f"{where}: {text} is before the line above it")
    if at_ns >= 1 << 62:
        raise ScheduleError(f"{where}: {text} is later than 146 years")
    return at_ns
