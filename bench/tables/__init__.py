"""How results are laid out for people: a module for each measurement, with `tables(found)`."""

from batchproof.bench.tables import cost, gpu, isolation, naive, overload, sequences, static, sweep

__all__ = ["cost", "gpu", "isolation", "naive", "overload", "sequences", "static", "sweep"]
