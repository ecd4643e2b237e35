"""Rules about engines with continuous batching."""
