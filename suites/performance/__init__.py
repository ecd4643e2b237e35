"""Throughput and latency; never decides conformance of behaviour."""
