"""Conformance: drive the target, hand the timeline to the rule's checker. One file for each area, in catalogue order."""
