"""Names under which a server is reached: `name`, `name:port` or `https://name[:port]`."""

import ipaddress
import re
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

_FORM = re.compile(r"(?:(https?)://)?([a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?")
_EXAMPLES = "crawl.example.org, crawl.example.org:8443 or https://crawl.example.org"


class ServerName(NamedTuple):
    """A name in its parts; absent ones are as the server has them itself."""

    scheme: str | None
    host: str
    port: int | None


def parse_name(text: str) -> ServerName:
    """The parts of a name, lower-cased."""
    match = _FORM.fullmatch(text.lower())
    if match is None:
        hint = "; an IPv6 address is written in brackets" if text.count(":") > 2 else ""
        raise ValueError(f"a name is written as {_EXAMPLES}, without a path; got {text!r}{hint}")
    scheme, host, port = match[1], match[2], int(match[3]) if match[3] else None
    if host.startswith("["):
        ipaddress.IPv6Address(host[1:-1])
    if port is not None and not 1 <= port <= 65535:
        raise ValueError(f"a port is from 1 to 65535; got {text!r}")
    return ServerName(scheme, host, port)


def _checked(text: str) -> str:
    parse_name(text)
    return text.lower()


PublicName = Annotated[str, AfterValidator(_checked)]
