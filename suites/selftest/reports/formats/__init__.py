"""Tests of `reports/formats/`."""
