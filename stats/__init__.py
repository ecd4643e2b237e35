"""Percentiles, intervals, autocorrelation and gates: every statistical decision."""
