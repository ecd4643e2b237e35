"""Throughput and latency. These rules never decide whether behaviour conforms."""
