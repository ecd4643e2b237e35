"""The exit statuses of every command, each number with one meaning."""

EXIT_CONFORMANT = 0
EXIT_FAILED = 1
EXIT_INCONCLUSIVE = 75  # EX_TEMPFAIL of sysexits.h
