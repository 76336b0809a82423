"""Which names the server answers to: what `Host` and `Origin` may be, and the URL for our commands."""

import ipaddress
from typing import Final, NamedTuple

from gossamer.settings.model import ControlSettings
from gossamer.settings.server_names import ServerName, parse_name

_DEFAULT: Final = {"http": 80, "https": 443}


class Names(NamedTuple):
    """All in lower case."""

    authorities: list[str]
    """What `Host` may be."""
    origins: list[str]
    """What `Origin` may be."""
    url: str
    """Where this process itself is reached: not through a proxy or a tunnel."""


def names_of(settings: ControlSettings, port: int) -> Names:
    """Of the address listened on, of loopback where it is that, and of `control.names`."""
    own = "https" if settings.certificate else "http"
    address = ipaddress.ip_address(settings.address)
    itself = f"[{address}]" if address.version == 6 else str(address)
    local = ["localhost", "127.0.0.1", "[::1]"]
    given = [parse_name(name) for name in settings.names]
    if address.is_unspecified:
        reached = local
        itself = "[::1]" if address.version == 6 else "127.0.0.1"
    else:
        reached = [itself, *local] if address.is_loopback else [itself]
    known = [*given, *(ServerName(None, host, None) for host in reached)]
    authorities: set[str] = set()
    origins: set[str] = set()
    direct: list[str] = []
    for scheme, host, named in known:
        used = scheme or own
        at = named or (_DEFAULT[scheme] if scheme else port)
        spelt = {f"{host}:{at}"} | ({host} if at == _DEFAULT[used] else set())
        authorities |= spelt
        origins |= {f"{used}://{one}" for one in spelt}
        if used == own and at == port:
            direct.append(host)
    # The given names come first, and a certificate is made out to one.
    host = direct[0] if len(direct) > len(reached) else itself
    return Names(sorted(authorities), sorted(origins), f"{own}://{host}:{port}")
