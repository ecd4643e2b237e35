"""Tests of `reports/compare/`."""
