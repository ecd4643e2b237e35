"""Settings of this repository only; everything that a user needs is in the plugin, `fixtures/plugin.py`."""

import os

import pytest

pytest.register_assert_rewrite("batchproof.suites.selftest")  # also what the tests share, before anything imports it

ENGINES = "needs an engine: "


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI nothing may be skipped: what a user's machine may lack, CI installs.

    Engines have jobs of their own, in which BATCHPROOF_NO_SKIP is `all`.
    """
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    found = reporter.stats.get("skipped", ()) if reporter else ()
    strict = os.environ.get("BATCHPROOF_NO_SKIP", "")
    skipped = [report for report in found if strict == "all" or ENGINES not in str(report.longrepr)]
    if strict and reporter and skipped:
        reporter.write_line(f"\nskipped, and BATCHPROOF_NO_SKIP is set: {[report.nodeid for report in skipped]}", red=True)
        session.exitstatus = 1
