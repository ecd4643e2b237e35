"""This machine: clocks, stalls, waiting for a processor, guarded processes, and the live line of a terminal."""
