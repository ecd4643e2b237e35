"""Replay bundles: what `batchproof check --replay` needs to judge one rule again, offline. A zip with bundle.json in it."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof import __version__
from batchproof.host.plain_files import read_plain
from batchproof.reports.formats.schemas import flaw, version

NAME = "bundle"
INSIDE = "bundle.json"
FORMAT = version(NAME, NAME)
LARGEST = 256 << 20  # bytes; a bundle is data from outside, and must not fill the memory when it is unpacked


class BundleError(Exception):
    """The file is not a bundle that this version can read; the message names the file and the reason."""


@dataclass(frozen=True)
class Bundle:
    """One piece of evidence, the rule that it is about, and how it was judged. The fields are those of the schema."""

    rule: str
    kind: str
    evidence: Mapping[str, Any]
    target: Mapping[str, Any]
    seed: int
    config: Mapping[str, Any] | None
    judgement: Mapping[str, str]


def name(rule: str, seed: int) -> str:
    """Return the path of a bundle within its report folder."""
    return f"bundles/{rule.lower()}-{seed}.zip"


def write(path: Path, bundle: Bundle, failure: str) -> None:
    """Write a bundle. The zip also has the failure as text for people."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(INSIDE, json.dumps({"format": FORMAT, "batchproof": __version__, **vars(bundle)}))
        archive.writestr("failure.txt", failure)


def read(path: Path) -> Bundle:
    """Read a bundle; BundleError says what is wrong with it."""
    data = _content(path)
    if isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
        raise BundleError(f"{path}: its format is {data['format']!r}, and this version of Batchproof reads format {FORMAT}")
    if wrong := flaw(NAME, NAME, data):
        raise BundleError(f"{path} is not a replay bundle: in {INSIDE}, {wrong}")
    return Bundle(**{field: value for field, value in data.items() if field not in ("format", "batchproof")})


def _content(path: Path) -> Any:
    try:
        with zipfile.ZipFile(io.BytesIO(read_plain(path))) as archive:
            if archive.getinfo(INSIDE).file_size > LARGEST:
                raise BundleError(f"{path} is not a replay bundle: {INSIDE} has more than {LARGEST >> 20} MiB")
            return json.loads(archive.read(INSIDE))
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from None
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError, RuntimeError, zlib.error):
        raise BundleError(f"{path} is not a replay bundle (a zip with {INSIDE}, from reports/.../bundles)") from None
