"""The messages of the target `stdio`, as JSON schemas: one definition for each message, in both directions."""
