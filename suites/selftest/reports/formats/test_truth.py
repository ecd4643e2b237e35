"""Tables of truth under test: what the reader refuses, and which verdicts an entry contradicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.reports.formats.report import VERDICTS
from batchproof.reports.formats.truth import Truth, TruthError, read
from batchproof.suites.selftest.report_lines import fact, truth_table

NOT_JUDGED = {"SKIPPED", "NOT_OBSERVABLE", "OBSERVED", "INCONCLUSIVE", "ERROR", ""}


def test_a_table_is_read(tmp_path: Path) -> None:
    """Each entry has the fields of the file; a single piece of evidence may stand without brackets."""
    path = truth_table(tmp_path / "x.toml", fact(evidence="docs: https://example.org/a"))

    first, *others = read(path)

    assert first == Truth("DB-SIZE-001", True, "", ("docs: https://example.org/a",), "It counts rows.")
    assert len(others) == 11


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": []}, "'evidence': [] should be non-empty"),
        ({"evidence": None}, "it lacks 'evidence'"),
        ({"evidence": ["I saw it"]}, "'evidence.0': 'I saw it' does not match "),
        ({"evidence": ["source: core.py"]}, "'evidence.0': 'source: core.py' does not match "),
        ({"holds": "perhaps"}, "'holds' is 'perhaps', and may be True, False, 'unclaimed'"),
        ({"says": " "}, "'says': ' ' does not match "),
        ({"more": "x"}, "it has unknown fields: 'more'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_broken_entry_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    """The message names the file, the entry and its rule, and what is wrong there."""
    path = truth_table(tmp_path / "x.toml", fact(), fact("DB-SIZE-002", **change))

    with pytest.raises(TruthError) as refused:
        read(path)

    said = str(refused.value)
    assert said.startswith(f"{path}: entry 2 (DB-SIZE-002): ")
    assert "\n" not in said
    if message != "'evidence': [] should be non-empty":  # jsonschema's own words, which differ by version
        assert message in said


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "lacks 'truth'"), ("truth = 5", "'truth' is not a list"), ("[[truth]]\n" * 3, "'truth' has 3 of the 12 entries"),
     ("[[truth", "is not TOML"), (None, "cannot read")],
    ids=["empty", "no list", "too few", "no TOML", "no file"],
)
def test_a_broken_table_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    """Twelve entries at least: fewer say too little about a stack."""
    path = tmp_path / "x.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")

    with pytest.raises(TruthError, match=message) as refused:
        read(path)

    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    ("entry", "against", "with_it"),
    [
        (fact(), {"FAIL", "KNOWN"}, {"PASS"}),
        (fact(holds=False), {"PASS"}, {"FAIL", "KNOWN"}),
        (fact(holds=False, occurs="sometimes"), set(), {"PASS", "FAIL", "KNOWN"}),
        (fact(holds="unclaimed"), {"FAIL", "KNOWN"}, {"PASS", *NOT_JUDGED}),
    ],
    ids=["holds", "does not hold", "race", "unclaimed"],
)
def test_verdicts_against_evidence(entry: dict[str, object], against: set[str], with_it: set[str]) -> None:
    """PASS and FAIL are compared, and KNOWN is a FAIL. A rule that was not judged contradicts nothing."""
    one = Truth(**{**entry, "evidence": ("",)})  # type: ignore[arg-type]
    verdicts = {*VERDICTS, ""}

    assert {verdict for verdict in verdicts if one.contradicts(verdict)} == against
    assert {verdict for verdict in verdicts if one.agrees(verdict)} >= with_it
    assert not [verdict for verdict in verdicts if one.agrees(verdict) and one.contradicts(verdict)]
