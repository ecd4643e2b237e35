"""The rules about engines with continuous batching."""
