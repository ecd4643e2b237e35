"""`python -m batchproof`."""

from batchproof.cli import main

if __name__ == "__main__":
    main()
