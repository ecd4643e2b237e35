"""Conformance: drive the target, hand the timeline to the rule's checker. One file an area, in the order of rules.toml."""
