"""One module for each measurement of a bench."""
