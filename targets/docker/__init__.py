"""The Docker engine: containers, their labels, and pulling images."""
