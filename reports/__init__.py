"""Reports: the file formats, and everything that is derived from them for people to read.

What a CI author imports to read a report is here: `read("reports/out/triton")` returns a `Report`, whose results are checked
against the schema and against each other. `read_bench` does the same for a bench.
"""

from batchproof.reports.formats.bench import BenchReport
from batchproof.reports.formats.bench import read as read_bench
from batchproof.reports.formats.jsonl import ReportError
from batchproof.reports.formats.report import VERDICTS, Report, read
from batchproof.reports.headline import headline

__all__ = ["VERDICTS", "BenchReport", "Report", "ReportError", "headline", "read", "read_bench"]
