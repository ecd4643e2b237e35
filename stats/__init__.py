"""Percentiles, intervals, autocorrelation and gates: every statistical conclusion."""
