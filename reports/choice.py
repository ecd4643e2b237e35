"""Which requests a picture shows if it has too few lanes for all: those that are accused, and what is around them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any


def chosen(
    requests: Sequence[Mapping[str, Any]],
    most: int,
    about: Collection[str] = (),
    together: Iterable[Collection[int]] = (),
) -> list[Mapping[str, Any]]:
    """Return at most `most` requests, in their order: the accused, then those in a batch with them, then the nearest.

    Without any that is accused, these are the first. about: the names of the accused; if they are too many, the first names
    count. together: the serials of each batch.
    """
    first = {name: place for place, name in reversed([*enumerate(about)])}
    accused = [at for at, one in enumerate(requests) if one["name"] in first]
    if len(requests) <= most or not accused:
        return list(requests[:most])
    mine = {requests[at]["serial"] for at in accused}
    company = {serial for batch in together if not mine.isdisjoint(batch) for serial in batch}

    def rank(at: int) -> tuple[int, int, int]:
        if requests[at]["name"] in first:
            return 0, first[requests[at]["name"]], at
        place = bisect(accused, at)
        distance = min(abs(at - other) for other in accused[max(0, place - 1) : place + 1])
        return 1 if requests[at]["serial"] in company else 2, distance, at

    return [requests[at] for at in sorted(sorted(range(len(requests)), key=rank)[:most])]
