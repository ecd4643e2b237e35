"""Rules about config.pbtxt."""
