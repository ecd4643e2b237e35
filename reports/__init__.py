"""Reports: the file formats, and everything that is derived from them for people to read.

What a CI author imports to read a report is here: `read("reports/out/triton")` returns a `Report`, whose results are checked
against the schema and against each other. `read_bench` does the same for a bench, and `figures_of` returns the measured
numbers of either.
"""

from batchproof.reports.figures import Figure
from batchproof.reports.formats.bench import BenchReport
from batchproof.reports.formats.bench import read as read_bench
from batchproof.reports.formats.jsonl import ReportError
from batchproof.reports.formats.report import VERDICTS, Report, read
from batchproof.reports.headline import headline
from batchproof.reports.measured import Measured, figures_of, measured

__all__ = [
    "VERDICTS",
    "BenchReport",
    "Figure",
    "Measured",
    "Report",
    "ReportError",
    "figures_of",
    "headline",
    "measured",
    "read",
    "read_bench",
]
