"""The check of a process's number, by the name under which the parts of a node import it."""

from gossamer.pid_file import is_alive

__all__ = ["is_alive"]
