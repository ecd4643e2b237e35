"""The schemas in this folder: which version of a format they describe, and what is wrong with data that does not fit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from batchproof.reports.wording import line

TYPES = {"array": "a list", "integer": "an integer", "number": "a number", "object": "an object", "string": "a string",
         "boolean": "true or false", "null": "null"}  # fmt: skip


@cache
def schema(name: str) -> dict[str, Any]:
    """Return the schema in `NAME.schema.json`."""
    text = files(__package__).joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def version(name: str, definition: str) -> int:
    """Return the version of a format, which its schema requires in the field `format` of this definition."""
    number: int = schema(name)["$defs"][definition]["properties"]["format"]["const"]
    return number


def words(name: str, definition: str) -> tuple[str, ...]:
    """Return the words that a definition allows, in the order of the schema."""
    return tuple(schema(name)["$defs"][definition]["enum"])


def flaw(name: str, definition: str, data: object) -> str:
    """Return in one line what is wrong with data that should fit a definition of a schema; an empty string if it fits."""
    from jsonschema.exceptions import best_match  # slow to import, and only readers need it

    try:
        worst = best_match(_validator(name, definition).iter_errors(data))
    except RecursionError:
        return "it is nested too deeply"
    return line(_explained(worst)) if worst else ""


@cache
def _validator(name: str, definition: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(_whole({"$ref": f"#/$defs/{definition}"}, schema(name)["$defs"]))


def _whole(part: Any, definitions: dict[str, Any]) -> Any:
    """A part of a schema with its references filled in, which takes a third of the time to validate. None is circular."""
    if isinstance(part, list):
        return [_whole(one, definitions) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _whole(definitions[part["$ref"].removeprefix("#/$defs/")], definitions)
    return {word: _whole(one, definitions) for word, one in part.items()}


def _explained(error: Any) -> str:
    place = ".".join(map(str, error.absolute_path))
    what = f"'{place}'" if place else "it"
    match error.validator:
        case "required":
            lacking = [field for field in error.validator_value if field not in error.instance]
            return f"{what} lacks {', '.join(map(repr, lacking))}"
        case "type":
            allowed = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
            return f"{what} is not {' or '.join(TYPES[one] for one in allowed)}"
        case "enum":
            return f"{what} is {error.instance!r}, and may be {', '.join(map(repr, error.validator_value))}"
        case "minItems":
            return f"{what} has {len(error.instance)} of the {error.validator_value} entries that it needs"
        case "additionalProperties":
            return f"{what} has unknown fields: {', '.join(_unknown(error))}"
        case _:
            return f"{what}: {error.message}"


def _unknown(error: Any) -> Iterator[str]:
    return (repr(field) for field in error.instance if field not in error.schema.get("properties", {}))
