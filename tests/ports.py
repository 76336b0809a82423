"""Ports for servers that a test starts one after the other."""

from gossamer.engine.server import free_port


def free_ports(count: int) -> list[int]:
    """All different: until its server has begun, a port is free and could be given again."""
    found: dict[int, None] = {}
    while len(found) < count:
        found[free_port()] = None
    return list(found)
