"""A second file of the fake engine's host program: its version, and the stop tokens that say what goes wrong."""

VERSION = "1.2"
DIES, HANGS, RAISES, BABBLES = 101, 102, 103, 104
