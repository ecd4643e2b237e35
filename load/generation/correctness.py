"""What an engine must never do under any load: checked for every request and every iteration of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from batchproof.load.generation.samples import TextSamples
from batchproof.targets.engines import Generation
from batchproof.targets.witness.languages import Language, Unknown


def mistakes(
    requests: Sequence[Generation], texts: Sequence[Sequence[int]], samples: TextSamples, language: Language
) -> Iterator[str]:
    """Yield the first text that is not its prompt's, and the first that ended early as if it were complete.

    Of a language model that nobody knows, neither can be said.
    """
    if isinstance(language, Unknown):
        return
    for number, (request, text) in enumerate(zip(requests, texts, strict=True)):
        if tuple(text) != language.continuation(request.prompt, request.max_tokens)[: len(text)]:
            yield f"the text of request {number} is not that of its prompt"
            break
    for number, answered in enumerate(samples.whole.answered.tolist()):
        if answered and len(texts[number]) != requests[number].max_tokens:
            had, asked = len(texts[number]), requests[number].max_tokens
            yield f"the text of request {number} ended after {had} of {asked} tokens"
            break


def excesses(lines: Sequence[Mapping[str, Any]], rows: int, tokens: int) -> Iterator[str]:
    """Yield the first iteration with more rows or new tokens than allowed, and the first that read a wrong entry."""
    for line in lines:
        new = sum(row[2] for row in line["rows"])
        if len(line["rows"]) > rows or new > tokens:
            had = f"{len(line['rows'])} rows and {new} tokens"
            yield f"iteration {line['number']} has {had}; the limits are {rows} and {tokens}"
            break
    for line in lines:
        if any(row[3] for row in line["rows"]):
            yield f"in iteration {line['number']}, a row read context entries that were not in their place"
            break
