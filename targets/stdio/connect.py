"""Connects a program's standard input and output to a socket: `connect.py SOCKET PROGRAM ARGUMENT...`.

This process becomes the program. Run with `-S -E`: no site, no environment.
"""

import os
import socket
import sys

if __name__ == "__main__":
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    for end in (0, 1):
        os.dup2(line.fileno(), end)
    try:
        os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - no shell wanted
    except OSError as error:
        sys.exit(f"cannot run {sys.argv[2]}: {error.strerror}")
