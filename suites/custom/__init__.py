"""Custom batching: drive the target with a strategy, hand the timeline to the rule's checker."""
