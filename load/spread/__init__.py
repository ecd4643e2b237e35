"""An open loop that several machines send together: Locust carries the schedules out and the samples home."""
