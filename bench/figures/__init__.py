"""The figures of each measurement: a module for each, with `figures(found)`, a pure function of what was found."""

from batchproof.bench.figures import cost, gpu, isolation, naive, overload, sequences, static, sweep, tune

__all__ = ["cost", "gpu", "isolation", "naive", "overload", "sequences", "static", "sweep", "tune"]
