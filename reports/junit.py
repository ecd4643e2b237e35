"""junit.xml: the results for CI systems that show test results, with a testsuite for each area."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from batchproof.reports import failure
from batchproof.reports.causes import causes
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.formats.report import Report
from batchproof.reports.headline import headline
from batchproof.reports.wording import clean, line

ABOUT = ("verdict", "level", "title", "attempts", "told", "follows from")


def to_junit(report: Report) -> str:
    """Return the text of `junit.xml`. If the report is not whole, it has an error that says so, and no CI calls it green."""
    root = ET.Element("testsuites", name="batchproof")
    explained = causes(report.results)
    for area, results in report.areas().items():
        suite = _suite(root, report, area)
        for result in results:
            _case(suite, report, result, explained.get(result["rule"], ""))
        _count(suite)
    if report.footer is None or not report.footer["complete"]:
        suite = _suite(root, report, "report")
        case = ET.SubElement(suite, "testcase", classname=_text(report.target), name="the report is whole")
        error = ET.SubElement(case, "error", type="TRUNCATED" if report.truncated else "INCOMPLETE")
        error.set("message", headline(report))
        error.text = clean("no result for " + ", ".join(report.missing)) if report.missing else ""
        _count(suite)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, report: Report, area: str) -> ET.Element:
    header = report.header
    suite = ET.SubElement(root, "testsuite", name=_text(f"{report.target} {area}"))
    suite.set("timestamp", _text(str(header["started"]).removesuffix("Z")))  # the format's date has no time zone
    facts = {
        "target": report.target,
        "reached": header["target"]["reached"],
        "sight": header["target"]["sight"],
        "profile": header["profile"] or "all",
        "seed": header["seed"],
        "batchproof": header["batchproof"],
    }
    _properties(suite, facts)
    return suite


def _case(suite: ET.Element, report: Report, result: Line, cause: str) -> None:
    case = ET.SubElement(suite, "testcase", classname=_text(report.target), name=_text(result["rule"]))
    case.set("time", f"{result['seconds']:.3f}")
    facts = {**result, "follows from": cause}
    _properties(case, {name: facts[name] for name in ABOUT if facts.get(name, "") != ""})
    match result["verdict"]:
        case "PASS" | "OBSERVED":
            return
        case "SKIPPED" | "UNSUPPORTED" | "NOT_OBSERVABLE" as verdict:
            ET.SubElement(case, "skipped", message=line(result["reason"] or verdict), type=verdict)
        case "KNOWN":
            why = f"KNOWN: {result['reason'] or result['actual']} {result['link']}"
            ET.SubElement(case, "skipped", message=line(why), type="KNOWN")
        case verdict:
            outcome = ET.SubElement(case, "failure" if verdict == "FAIL" else "error", type=verdict)
            basic = f"follows from {cause}: " if cause else ""
            outcome.set("message", line(f"{basic}expected {result['expected']}, got {result['actual']}"))
            outcome.text = "\n" + failure.text(result, report.attempts, report.header, cause=cause) + "\n"


def _properties(parent: ET.Element, facts: dict[str, object]) -> None:
    into = ET.SubElement(parent, "properties")
    for name, value in facts.items():
        ET.SubElement(into, "property", name=name, value=_text(value))


def _count(suite: ET.Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")


def _text(value: object) -> str:
    return clean(value).replace("\n", " ")
