"""A history of runs: each with its figures, its commit and its host, in a file of SQLite or in a PostgreSQL.

    with opened("reports/history.sqlite") as store:
        for one in all_series(store, figure="sweep.*"):
            points = points_of(store, one, last=1000)

Needs the extra `history`. Nothing here starts a process or knows a target; `commands/history/` asks git and the host.
"""

from batchproof.reports.history.address import DEFAULT, parse
from batchproof.reports.history.run import Commit, HistoryError, HistoryUnavailable, Host, Run

__all__ = ["DEFAULT", "Commit", "HistoryError", "HistoryUnavailable", "Host", "Run", "parse"]
