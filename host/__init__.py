"""This machine: clocks, stalls, waiting for a processor, the live line of a terminal, and how processes end."""
