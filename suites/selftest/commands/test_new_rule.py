"""`batchproof new rule` under test: skeletons go where people look for them, and nothing that exists is changed."""

from __future__ import annotations

import difflib
import shutil
from pathlib import Path

import pytest

from batchproof.commands.new.rule import NewRuleError, new_rule

ROOT = Path(__file__).parents[3]
KEPT = shutil.ignore_patterns(".*", "__pycache__", "out", "*.egg-info", "docs")

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="not a checkout: there is nothing to add to")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the project."""
    shutil.copytree(ROOT, tmp_path / "copy", ignore=KEPT)
    return tmp_path / "copy"


@pytest.mark.parametrize("area", ["SIZE", "db-timeout", "DB-LAW", "PERF-OVERLOAD"])
def test_a_skeleton_only_adds(checkout: Path, area: str) -> None:
    """Five files gain lines with the new id or a TODO; none of their lines is changed."""
    id_, written = new_rule(area, checkout)

    for one in written:
        old = (ROOT / one.path.relative_to(checkout)).read_text(encoding="utf-8").splitlines()
        new = one.path.read_text(encoding="utf-8").splitlines()
        changes = [line for line in difflib.ndiff(old, new) if line[:2] in ("+ ", "- ")]
        assert {line[0] for line in changes} == {"+"}
        assert id_ in "".join(changes) or one.path.name == "mutants.toml"
        assert "TODO" in "".join(changes)
        assert "[" in new[one.line - 1] or "(" in new[one.line - 1]
        if one.path.suffix == ".py":
            compile("\n".join(new), str(one.path), "exec")
    assert len({one.path for one in written}) == 5


def test_skeletons_follow_each_other(checkout: Path) -> None:
    """The entry of the new rule follows the last one of its area, before the next area's comment."""
    id_, (entry, *_) = new_rule("SIZE", checkout)

    text = entry.path.read_text(encoding="utf-8")

    assert text.index("[DB-SIZE-008]") < text.index(f"[{id_}]") < text.index("# ---", text.index("[DB-SIZE-008]"))
    assert text.index(f"[{id_}]") < text.index("[DB-DELAY-001]")


@pytest.mark.parametrize(
    ("area", "message"),
    [
        ("NOTHING", "there is no area 'NOTHING': choose one of DB-SIZE, "),
        ("CFG-NAME", "a rule about config.pbtxt has another shape"),
        ("DB-DELAYS", "there is no area 'DB-DELAYS': choose one of DB-SIZE, "),
    ],
)
def test_an_unknown_area_is_refused(checkout: Path, area: str, message: str) -> None:
    """A word that is not an area is refused, and nothing is written."""
    before = {path: path.stat().st_mtime_ns for path in checkout.rglob("*")}

    with pytest.raises(NewRuleError) as error:
        new_rule(area, checkout)

    assert message in str(error.value)
    assert {path: path.stat().st_mtime_ns for path in checkout.rglob("*")} == before


def test_a_folder_that_is_not_a_checkout_is_refused(tmp_path: Path) -> None:
    """Nothing can be added outside a checkout."""
    with pytest.raises(NewRuleError, match="is not a checkout of Batchproof"):
        new_rule("DB-SIZE", tmp_path)
