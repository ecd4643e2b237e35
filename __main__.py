"""`batchproof` and `python -m batchproof`."""

import sys


def main() -> None:
    """Run the command line. Ctrl-C is not an error while it is still being imported, either."""
    try:
        from batchproof.cli import main as run

        run()
    except KeyboardInterrupt:
        from batchproof.exit_status import ExitStatus

        sys.exit(ExitStatus.INTERRUPTED)


if __name__ == "__main__":
    main()
