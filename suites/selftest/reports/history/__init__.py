"""Tests of `reports/history/`."""
