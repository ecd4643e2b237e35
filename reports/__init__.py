"""Reports: reads `report.jsonl` and derives everything else from it; knows neither the suites nor the rig."""

from batchproof.reports.reading import Report, ReportError, read

__all__ = ["Report", "ReportError", "read"]
