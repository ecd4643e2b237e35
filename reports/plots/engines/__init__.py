"""Charts of engines with continuous batching: TTFT, the time between tokens and goodput against load, and who waits."""
