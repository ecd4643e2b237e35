"""Files of Locust under test: what 2.47.0 wrote of a small server."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.suites.selftest.reports.history.imports.reading import read_text, values

STATS = '''\
Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,Max Response Time,\
Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%
GET,/,566,0,8,13.575801367409916,1.8556670038378797,279.94560899969656,312.0,56.437894772077044,0.0,8,14,17,19,27,33,48,78,280,\
280,280
GET,"/gone,%20%22x%22",179,179,7,12.53575935799501,1.9936020034947433,73.71084199985489,335.0,17.848733505656874,\
17.848733505656874,7,14,17,19,27,42,53,71,74,74,74
,Aggregated,745,179,8,13.325912079241771,1.8556670038378797,279.94560899969656,317.5261744966443,74.28662827773393,\
17.848733505656874,8,14,17,19,27,34,51,73,280,280,280
'''
NOTHING = STATS.splitlines()[0] + "\n,Aggregated,0,0,0,0.0,0,0,0,0.0,0.0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n"


def test_each_kind_of_request_has_its_figures(tmp_path: Path) -> None:
    """Times in nanoseconds, and how many failed: those have times, too."""
    found = values(read_text(tmp_path, STATS))

    assert found["locust.p99_ns[request=GET]"] == 78e6
    assert found["locust.requests_per_s[request=Aggregated]"] == pytest.approx(74.2866)
    assert found["locust.failed[request=GET-gone-20-22x-22]"] == 1.0
    assert len(found) == 18


def test_a_cell_that_is_not_available_is_left_out(tmp_path: Path) -> None:
    """Locust writes N/A."""
    text = STATS.replace("8,14,17,19,27,33,48,78", "N/A,14,17,19,27,33,48,78")

    assert "locust.p50_ns[request=GET]" not in values(read_text(tmp_path, text))


def test_a_run_without_requests_has_no_figures(tmp_path: Path) -> None:
    """As Locust wrote it when its server was not there yet."""
    with pytest.raises(Exception, match="it is a file of Locust without a single figure"):
        read_text(tmp_path, NOTHING)
