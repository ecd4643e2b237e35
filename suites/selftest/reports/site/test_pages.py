"""The pages of a site, as files and in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from batchproof.reports import Report
from batchproof.reports.site.entries import entries
from batchproof.reports.site.pages import files
from batchproof.suites.selftest.browser import Browse, until
from batchproof.suites.selftest.report_lines import ATTEMPTS, DELAY, HOSTILE, RESULTS, TARGET, footer, header, result

PASSING = [result(line["rule"], title=line["title"], level=line["level"]) for line in RESULTS]


def report(name: str, version: str, results: list[dict[str, Any]], **fields: Any) -> Report:
    """Return a whole report of this target."""
    head = header(target={**TARGET, "name": name, "version": version, **fields}, rules=[one["rule"] for one in results])
    return Report(head, tuple(one for one in ATTEMPTS if one["rule"] == DELAY), tuple(results), footer(exit_status=0))


REPORTS = [report("good", "1.0", PASSING), report("bad", "2.0", RESULTS), report("bad", "1.0", PASSING)]


def site(folder: Path, reports: list[Report], **more: Any) -> Path:
    """Write the site of these reports; return its first page."""
    for path, text in files(entries(reports), **more):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder / "index.html"


def test_the_files_are_listed_and_every_link_leads_to_one(tmp_path: Path) -> None:
    """A page for each stack and each rule, two badges for each stack, and no link into nothing."""
    site(tmp_path, REPORTS)

    index = json.loads((tmp_path / "site.json").read_text(encoding="utf-8"))
    on_disk = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert index["files"] == on_disk
    assert len(on_disk) == 2 + 3 * 3 + len(RESULTS)
    assert [one["folder"] for one in index["stacks"]] == ["stacks/bad-1.0", "stacks/bad-2.0", "stacks/good-1.0"]
    dead = []
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for href in re.findall(r'href="([^"#][^"]*)"', text):
            place, _, anchor = href.partition("#")
            if href.startswith(("data:", "http")):
                continue
            target = page.parent / place
            if not target.is_file() or (anchor and f'id="{anchor}"' not in target.read_text(encoding="utf-8")):
                dead.append((page.name, href))
    assert dead == []


def test_every_cell_says_which_version_and_when(tmp_path: Path) -> None:
    """In both matrices; and the page of a rule has columns for it."""
    text = site(tmp_path, REPORTS).read_text(encoding="utf-8")

    cells = re.findall(r'<td class="\w+" title="([^"]*)"', text)
    assert len(cells) == 3 * 3 + 3 * len(RESULTS)
    assert all(re.match(r"(good|bad) \d\.0, judged 2026-11-21 by Batchproof 2026.11.0: DB-|.*: [A-Z]", one) for one in cells)
    assert "bad 2.0, judged 2026-11-21 by Batchproof 2026.11.0: DB-DELAY-004 FAIL" in cells
    rule = (tmp_path / "rules" / f"{DELAY}.html").read_text(encoding="utf-8")
    assert rule.count("<td>2026-11-21</td><td>2026.11.0</td>") == 3


def test_a_stacks_page_has_what_a_reader_asks_for(tmp_path: Path) -> None:
    """The sentence, what it claims, what it breaks with a picture, what its other version did, the text, the badge."""
    site(tmp_path, REPORTS, text_of=lambda entry: Markup("<p>about {}</p>").format(entry.name))
    text = (tmp_path / "stacks" / "bad-2.0" / "index.html").read_text(encoding="utf-8")

    parts = ["NOT CONFORMANT: 1 of 3", "391.2 ms", '<svg class="lanes"', "timer rounds up", "Compared with", "new failure"]
    parts += ["<dt><code>delay</code></dt><dd>yes</dd>", "about bad 2.0", 'aria-label="batchproof 2026.11.0: not conformant']
    assert [part for part in parts if part not in text] == []
    assert sorted(parts, key=text.index) == parts


def test_a_rules_page_has_who_keeps_it_and_what_it_looks_like(tmp_path: Path) -> None:
    """What the catalogue says of it, the picture of a stack that breaks it, and of one that keeps it."""
    catalogue = {DELAY: {"intent": "latency promise", "source": "batcher.md#delayed", "basis": "bounded"}}
    site(tmp_path, REPORTS, rules=catalogue)
    text = (tmp_path / "rules" / f"{DELAY}.html").read_text(encoding="utf-8")

    parts = ("latency promise", "batcher.md#delayed", "bounded: a time", "kept by 2 of 3")
    assert [part for part in parts if part not in text] == []
    assert re.findall(r"aria-label=\"([^\"]*): timeline of DB-DELAY-004\"", text) == ["bad 2.0", "bad 1.0"]


def test_the_search_works_from_the_keyboard(tmp_path: Path, browse: Browse) -> None:
    """/ goes to the field from every page, words narrow both matrices, arrows move, Enter opens, and the URL keeps it."""
    index = site(tmp_path, REPORTS)
    page = browse(tmp_path / "rules" / f"{DELAY}.html")
    page.keyboard.press("/")
    page.wait_for_url("**/index.html#q=")
    until(page, "document.activeElement.id === 'q'")

    page.keyboard.type("oldest request")
    assert page.locator("#found").text_content() == "0 stacks, 1 rule"
    assert page.url.endswith("#q=oldest+request")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/rules/{DELAY}.html")

    page = browse(index)
    page.keyboard.press("/")
    page.keyboard.type("1.0")
    assert page.locator("#found").text_content() == "2 stacks, 0 rules"
    page.keyboard.press("Escape")
    assert page.locator("#found").text_content() == "3 stacks, 8 rules"
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.textContent") == "bad 2.0"
    page.keyboard.press("Enter")
    page.wait_for_url("**/stacks/bad-2.0/index.html")

    restored = browse(index, anchor="#q=nothing+like+this")
    assert restored.locator("#none").is_visible()
    restored.locator("#clear").click()
    assert restored.locator("#found").text_content() == "3 stacks, 8 rules"


def test_rules_that_somebody_breaks_can_be_chosen(tmp_path: Path, browse: Browse) -> None:
    """And those on which stacks differ."""
    page = browse(site(tmp_path, REPORTS))

    page.select_option("#show", "broken")
    broken = page.locator(".rules tbody tr:visible th a").all_text_contents()
    page.select_option("#show", "differ")
    differ = page.locator(".rules tbody tr:visible th a").all_text_contents()

    assert broken == ["DB-DELAY-001", "DB-DELAY-002", "DB-DELAY-003", DELAY]
    assert differ == ["DB-ORDER-002", *broken]
    assert page.url.endswith("#show=differ")


@pytest.mark.parametrize("page_of", ["index.html", "stacks/bad-1.0/index.html", f"rules/{DELAY}.html"])
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_no_page_is_wider_than_its_window(tmp_path: Path, browse: Browse, page_of: str, width: int, scheme: str) -> None:
    """Wide tables scroll in frames of their own, and the policy refuses nothing of ours."""
    site(tmp_path, REPORTS)
    page = browse(tmp_path / page_of, width=width, scheme=scheme)

    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(252, 252, 250)" if scheme == "light" else "rgb(20, 23, 28)"
    )


def test_hostile_reports_are_text(tmp_path: Path, browse: Browse) -> None:
    """A name, a title, a claim, a reason and a link from outside: nothing runs, and nothing leaves the folder."""
    evil = f"../../{HOSTILE}\"'><img src=x onerror=\"document.title='pwned'\">"
    said = {"title": evil, "reason": evil, "actual": evil, "hints": [evil], "link": "javascript:alert(1)"}
    hostile = report(evil, evil, [{**one, **said} for one in RESULTS], claims={evil: evil}, contact=evil)
    good = report("good", "1.0", [{**one, "title": evil} for one in PASSING])
    folder = tmp_path / "site"
    index = site(folder, [hostile, good], title=evil)

    (stack,) = (one for one in (folder / "stacks").iterdir() if one.name != "good-1.0")
    for path in (index, stack / "index.html", folder / "rules" / f"{DELAY}.html"):
        page = browse(path)
        assert page.title() != "pwned"
        assert page.evaluate("document.querySelectorAll('img, [onerror], [href^=javascript]').length") == 0
    assert [one.name for one in tmp_path.iterdir()] == ["site"]


def test_a_large_site_is_searched_without_lag(tmp_path: Path, browse: Browse) -> None:
    """Twenty stacks and a thousand rules."""
    many = [result(f"DB-{chr(65 + n // 100)}-{n % 100:03}", title=f"rule number {n}") for n in range(1000)]
    found = entries([report("stack", f"{n}.0", many) for n in range(20)])
    first = next(text for path, text in files(found) if path == "index.html")
    (tmp_path / "index.html").write_text(first, encoding="utf-8")
    page = browse(tmp_path / "index.html")

    took_ms = page.evaluate("""() => {
        const field = document.getElementById("q"), start = performance.now();
        field.value = "number 99";
        field.dispatchEvent(new Event("input"));
        return performance.now() - start;
    }""")

    assert page.locator("#found").text_content() == "0 stacks, 19 rules"
    assert took_ms < 5_000  # that it is not quadratic; on an idle machine it is below 100 ms
