"""Comparison of runs with a baseline: figure by figure, on one kind of machine or with what another one costs."""

from batchproof.reports.compare.comparison import Compared, Comparison, NotComparable, compare
from batchproof.reports.compare.markdown import to_markdown

__all__ = ["Compared", "Comparison", "NotComparable", "compare", "to_markdown"]
