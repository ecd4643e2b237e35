"""Reports: reads `report.jsonl` and derives everything else from it; knows neither the suites nor the rig."""
