"""This machine: clocks, stalls, waiting for a processor, guarded and kept processes, and the live line of a terminal."""
