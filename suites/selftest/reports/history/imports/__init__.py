"""Tests of `reports/history/imports/`, on files that the tools themselves wrote, or that follow their documentation."""
