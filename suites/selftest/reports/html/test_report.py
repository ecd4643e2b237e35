"""Tests of report.html in a browser: what a reader sees first, filters, keyboard, URL, pictures, hostile content, size."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.reports import Report, headline, read
from batchproof.reports.formats.schemas import flaw
from batchproof.reports.html import report as html_report
from batchproof.reports.html.report import noise, profiles, to_html
from batchproof.reports.lanes import cut
from batchproof.suites.selftest.browser import until
from batchproof.suites.selftest.report_lines import (
    ATTEMPTS,
    COUNTS,
    DELAY,
    HOSTILE,
    LINES,
    REARMED,
    RESULTS,
    attempt,
    data,
    footer,
    header,
    result,
    write,
)
from batchproof.suites.selftest.reports.test_lanes import LATER

if TYPE_CHECKING:
    from pathlib import Path

    from batchproof.suites.selftest.browser import Browse

NOISE = {"watched_ns": 60_000_000_000, "stalls": 3, "longest_ns": 12_300_000, "total_ns": 20_000_000}
KEPT = json.loads(json.dumps({"lanes": cut(data(REARMED), bounds=[LATER]).to_json()}))
FILTER_MS = """() => {
  const times = [];
  for (const text of ["fails", "", "0042", "kept fails", ""]) {
    const box = document.getElementById("q");
    box.value = text;
    const start = performance.now();
    box.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.offsetHeight;
    times.push(performance.now() - start);
  }
  return times;
}"""


def example(**fields: Any) -> Report:
    """The report of the other tests, with noise, and with a picture of a rule that passed."""
    attempts = (attempt("DB-SIZE-001", "PASS") | KEPT, *ATTEMPTS)
    more = {"source": "a source", "intent": "a reason", "basis": "bounded"} | fields
    return Report(header(), attempts, tuple({**one, **more} for one in RESULTS), footer(noise=NOISE))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The page of that report."""
    path = tmp_path / "report.html"
    path.write_text(to_html(example()), encoding="utf-8")
    return path


def shown(page: Any) -> list[str]:
    """Return the ids of the rules that a reader sees."""
    return page.evaluate("[...document.querySelectorAll('.rule')].filter((one) => one.offsetHeight).map((one) => one.id)")


def test_what_a_report_keeps_for_its_page_fits_the_schema() -> None:
    """The picture, the source of the rule, and the noise."""
    kept = example()

    assert [flaw("report", one["type"], one) for one in (*kept.attempts, *kept.results, kept.footer or {})] == [""] * 13


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_first_screen_says_it_all(file: Path, browse: Browse, scheme: str, width: int) -> None:
    """The sentence, who was judged on which host, and how noisy it was; nothing has to be scrolled sideways."""
    page = browse(file, width=width, scheme=scheme)

    first = page.inner_text("header")
    assert headline(example()) in page.inner_text("h1")
    assert "3 stalls of 1 ms or more in 60 s, the longest 12.3 ms, all together 0% of the time." in first
    assert all(part in first for part in ("triton 2.51.0", "python 3.11.7"))
    assert page.evaluate("document.querySelector('h1').getBoundingClientRect().bottom < innerHeight / 2")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_what_is_broken_leads_to_its_rule(file: Path, browse: Browse) -> None:
    """A link opens the entry, which has the promise, its source, the evidence, the picture and the commands."""
    page = browse(file)

    page.click(f".broken a[href='#{DELAY}']")

    inside = page.inner_text(f"#{DELAY} .inside")
    assert all(part in inside for part in ("a source", "a reason", "bounded: a time", "391.2 ms", "--replay bundles/"))
    assert page.locator(f"#{DELAY} svg.lanes .lane").count() == 3
    assert page.evaluate(f"document.getElementById('{DELAY}').getBoundingClientRect().top < innerHeight")


def test_a_rule_that_passed_has_its_picture_with_the_bound(file: Path, browse: Browse) -> None:
    """The report keeps a little of every timeline."""
    page = browse(file, anchor="#DB-SIZE-001")

    bound = page.locator("#DB-SIZE-001 svg.lanes .limit title").text_content()
    assert bound.startswith("Bound for r1: 200 ms from 97 ms on")


def test_filters_stand_in_the_url(file: Path, browse: Browse) -> None:
    """Whoever gets the address sees the same rules, in the same order, with the same ones open."""
    page = browse(file)
    page.fill("#q", "delay")
    page.check("input[value=FAIL]")
    page.check("input[value=KNOWN]")
    page.select_option("#sort", "worst")
    page.click(f"#{DELAY} summary")
    until(page, "location.hash.includes('open')")

    hash_ = page.evaluate("location.hash")
    again = browse(file, anchor=hash_)

    assert hash_ == f"#q=delay&verdict=KNOWN,FAIL&sort=worst&open={DELAY}"
    assert shown(page) == shown(again) == [DELAY, "DB-DELAY-001"]
    assert again.inner_text("#shown") == "2 of 8 rules"
    assert again.evaluate(f"document.getElementById('{DELAY}').open")


def test_an_address_that_somebody_made_up_does_no_harm(file: Path, browse: Browse) -> None:
    """What does not exist is not chosen."""
    page = browse(file, anchor="#profile=%3Cb%3E&sort=<x>&verdict=,,&open=list,content,../x&level=MUST&q=%22%27")

    assert shown(page) == []
    page.click("#clear-too")
    assert len(shown(page)) == 8


def test_everything_works_from_the_keyboard(file: Path, browse: Browse) -> None:
    """`/` searches, Escape clears, arrows move between rules, Enter opens, and Tab reaches the picture."""
    page = browse(file)

    page.keyboard.press("/")
    page.keyboard.type("delay-004")
    assert shown(page) == [DELAY]
    page.keyboard.press("Escape")
    assert len(shown(page)) == 8
    page.focus("#DB-SIZE-002 summary")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.evaluate("document.getElementById('DB-SIZE-001').open")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.querySelector('title').textContent")
    assert focused.startswith("r1: sent at 97 ms")
    assert page.inner_text("#DB-SIZE-001 output") == focused
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.classList.contains('limit')")


def test_the_first_stop_of_the_tab_key_skips_to_the_content(file: Path, browse: Browse) -> None:
    """And every control has a name."""
    page = browse(file)

    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.getAttribute('href')") == "#content"
    every = "[...document.querySelectorAll('{}')].every((one) => {})"
    assert page.evaluate(every.format("input, select, button", "one.labels?.length || one.textContent"))
    assert page.evaluate(every.format("svg[role]", "one.getAttribute('aria-label')"))


def test_pointing_says_the_exact_times_and_moves_nothing(file: Path, browse: Browse) -> None:
    """The words stand below the picture, where there was room for them."""
    page = browse(file, anchor=f"#{DELAY}")
    high = "document.documentElement.scrollHeight"
    page.evaluate("new Promise(resolve => requestIdleCallback(resolve))")  # what opens at first has been laid out
    before = page.evaluate(high)

    page.hover(f"#{DELAY} .lane >> nth=2")

    assert page.inner_text(f"#{DELAY} output").startswith("r2: sent at 191 ms, waited for 200 ms")
    assert page.evaluate(high) == before


def test_on_paper_nothing_asks_to_be_clicked(file: Path, browse: Browse) -> None:
    """The rules are black on white, whatever the screen was, and what is open is printed."""
    page = browse(file, scheme="dark", anchor=f"#{DELAY}")

    page.emulate_media(media="print")

    assert not page.is_visible(".filters")
    assert page.is_visible(f"#{DELAY} svg.lanes")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_on_paper_what_did_not_pass_shows_its_evidence(file: Path, browse: Browse) -> None:
    """Nobody can open it there: the pictures of failures are printed, and those of rules that passed are left out."""
    page = browse(file)
    page.emulate_media(media="print")
    of = "[...document.querySelectorAll('.rule')].filter((one) => one.querySelector('.inside').checkVisibility())"

    found = page.evaluate(f"{of}.map((one) => one.dataset.v)")

    assert sorted(found) == ["ERROR", "FAIL", "INCONCLUSIVE", "KNOWN"]


def test_hostile_words_are_text(tmp_path: Path, browse: Browse) -> None:
    """In names, messages, claims, links and pictures: no element, no script, and what is unseen can be seen."""
    words = f'"\'>{HOSTILE}<img src=x onerror=alert(1)></script></style>'
    fields = dict.fromkeys(("title", "reason", "actual", "expected", "link", "profile", "source", "intent"), words)
    evil = result(DELAY, "FAIL", hints=[words], measures={words: words}, bundle="javascript:alert(1)//.zip", **fields)
    target = dict(header()["target"], name=words, version=words, reached=words, contact=words, claims={words: words})
    lanes = {"lanes": [{"name": words, "sent_ns": 0, "kind": words}], "marks": [[words, 0]]}
    attempts = [attempt(DELAY, "FAIL", number=at) | {"lanes": lanes, "note": words, "actual": words} for at in (1, 2)]
    first = header(target=target, rules=[DELAY], must_rules={words: 1}, command=words)
    folder = write(tmp_path, first, *attempts, evil, footer(counts={"FAIL": 1}, complete=False, reason=words))
    (folder / "report.html").write_text(to_html(read(folder)), encoding="utf-8")

    page = browse(folder / "report.html", anchor=f"#{DELAY}")

    assert page.evaluate("document.querySelectorAll('img, script:not(:last-of-type)').length") == 0
    assert page.evaluate("document.querySelectorAll('[onerror], a[href^=javascript]').length") == 0
    seen = page.inner_text("body")
    assert seen.count("\\x1b[31m<script>alert(1)</script>") > 10
    assert not [letter for letter in "\x1b\x00\u202e" if letter in page.content()]
    page.fill("#q", "<img src=x")
    assert shown(page) == [DELAY]


def test_simulated_time_has_no_noise() -> None:
    """Whatever the host did."""
    target = dict(header()["target"], sight="virtual")

    assert noise(Report(header(target=target), (), (), footer(noise=NOISE))).startswith("Time was simulated")


def many(count: int, each: int = 1) -> Report:
    """A report of so many attempts at rules, every tenth of which failed."""
    rules = [f"DB-SIZE-{at:03}" if at < 1000 else f"DB-A{at // 1000}-{at % 1000:03}" for at in range(count // each)]
    verdicts = ["FAIL" if at % 10 == 0 else "PASS" for at in range(len(rules))]
    kept = [KEPT if verdict == "FAIL" else {} for verdict in verdicts]
    attempts = [attempt(rule, "PASS", number=at) | more for rule, more in zip(rules, kept, strict=True)
                for at in range(1, each + 1)]  # fmt: skip
    results = [result(rule, verdict, title=f"What {rule} {'fails' if verdict == 'FAIL' else 'kept'} {at:04}", attempts=each)
               for at, (rule, verdict) in enumerate(zip(rules, verdicts, strict=True))]  # fmt: skip
    return Report(header(rules=rules), tuple(attempts), tuple(results), None)


@pytest.mark.parametrize("each", [5, 35])
def test_ten_thousand_attempts_are_filtered_without_lag(
    tmp_path: Path, browse: Browse, record_property: Any, each: int
) -> None:
    """It takes less time to filter them than to show them: the browser does not lay out what is not on the screen."""
    path = tmp_path / "report.html"
    path.write_text(to_html(many(10_000, each)), encoding="utf-8")
    page = browse(path)  # on an idle host, this takes about two seconds

    load_ms = page.evaluate("performance.getEntriesByType('navigation')[0].domComplete")
    times = page.evaluate(FILTER_MS)

    record_property("filter_ms", times)
    print(f"{10_000 // each} rules, {each} attempts each: shown in {load_ms:.0f} ms, filtered in {max(times):.0f} ms")
    assert median(times) < load_ms  # a single one may meet a stall of the host


@pytest.mark.parametrize("width", [360, 1280])
def test_an_address_leads_to_its_rule_in_a_long_page(tmp_path: Path, browse: Browse, width: int) -> None:
    """What is not on the screen has no height yet, and the place is found all the same."""
    path = tmp_path / "report.html"
    path.write_text(to_html(many(286)), encoding="utf-8")

    page = browse(path, width=width, anchor="#DB-SIZE-200")

    until(page, "Math.abs(document.getElementById('DB-SIZE-200').getBoundingClientRect().top) < 2")
    until(page, "location.hash === '#open=DB-SIZE-200'")
    page.click("#open-all")
    assert page.locator(".rule[open]").count() == 286
    until(page, "location.hash === ''")  # too many to be named


def test_a_page_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """286 rules, each with a picture of 24 requests: those that passed lose theirs first, and the reader is told."""
    crowd = {"lanes": [{"name": f"r{at}", "sent_ns": at, "answered_ns": 10**9, "kind": "expired"} for at in range(24)],
             "blocks": [{"number": at, "lanes": [at], "enter_ns": 10**8 + at} for at in range(24)]}
    whole = many(286)
    heavy = Report(whole.header, tuple(one | {"lanes": crowd} for one in whole.attempts), whole.results, None)

    small = to_html(heavy)
    monkeypatch.setattr(html_report, "BUDGET", 1 << 40)

    assert len(small.encode()) < 2_000_000 < len(to_html(heavy).encode())
    assert small.count("Its picture is left out") == 286 - small.count('class="lanes" viewBox')
    entries = small.split('<details class="rule"')[1:]
    assert all('class="lanes" viewBox' in entry for entry in entries if 'data-v="FAIL"' in entry)


def test_noise_without_a_footer() -> None:
    """A truncated report says what its results say."""
    assert noise(many(2)) == "No rule had to be judged again."
    assert noise(many(4, 2)) == "2 rules were judged more than once."


def test_a_profile_has_a_bar_of_its_verdicts() -> None:
    """Best first, in shares of its rules; and how many of its MUST rules were not even selected."""
    (row,) = profiles(example())

    assert [part["count"] for part in row["parts"]] == list(COUNTS.values())
    assert row["parts"][1]["start"] == row["parts"][0]["share"] == "12.500%"
    assert row["selected"] == ""
    short = Report(header(must_rules={"CORE": 17}), (), example().results, None)
    assert profiles(short)[0]["selected"] == "7 of 17 MUST rules selected"


@pytest.mark.parametrize("lines", [LINES[:-1], LINES[:3], LINES[:1]], ids=["no footer", "no results", "header only"])
def test_a_truncated_report_has_a_page(tmp_path: Path, browse: Browse, lines: list[Any]) -> None:
    """It says that it is truncated."""
    folder = write(tmp_path, *lines)
    (folder / "report.html").write_text(to_html(read(folder)), encoding="utf-8")

    page = browse(folder / "report.html")

    assert "Truncated" in page.inner_text("header .warning")
    assert page.locator("h1").count() == 1


def test_an_old_report_has_pictures_of_what_failed() -> None:
    """Before reports kept lanes, they kept the evidence of what did not pass."""
    old = json.loads(json.dumps([one for one in LINES if one["type"] == "attempt"]))
    page = to_html(Report(header(), tuple(old), tuple(RESULTS), footer()))

    assert page.count('class="lanes" viewBox') == 1
