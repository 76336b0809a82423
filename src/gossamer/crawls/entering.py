"""The way into a crawl's dashboard, as the browser of who asks can take it.

Takes the crawl, and the name under which the page was asked for; gives an address with the token. Guarantees: the
address is of the host that the browser has reached already, so no token is sent to another; it does not leave TLS.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from gossamer.control.api.origins import names_of
from gossamer.control.client import control_directory, read_address
from gossamer.control.service import RefusedError
from gossamer.control.tokens import read_token, token_file
from gossamer.errors import SettingsError
from gossamer.node.directory import SETTINGS
from gossamer.settings import load_saved
from gossamer.settings.model import ControlSettings
from gossamer.words import plain

_REACHED_BY: Final = ("address", "names", "certificate", "key")
_PORT: Final = re.compile(r":[0-9]+$")
_DEFAULT: Final = {False: 80, True: 443}


def listening(control: ControlSettings, *, usual: bool = False) -> Iterator[str]:
    """What is started here is reached as the page is: by address, names and certificate. `usual`: also what is not set."""
    unset = ControlSettings()
    for name in _REACHED_BY:
        value = getattr(control, name)
        if usual or value != getattr(unset, name):
            yield f"control.{name}={msgspec.json.encode(value).decode()}"


def way_in(out: Path, host: str, page: ControlSettings, *, view: bool) -> str:
    """`host`: as the page was asked for, which the guard has let pass. `view`: it was opened by the page."""
    directory = control_directory(out)
    url = (directory / "url").read_text().strip()
    secure, _, named = read_address(url)
    port = named or _DEFAULT[secure]
    if secure != bool(page.certificate):
        raise _not_alike(out.name, url, secure=secure)
    authority = f"{_PORT.sub('', host.lower())}:{port}"
    control = page if view else _control_of(out)
    if authority not in names_of(control, port).authorities:
        raise RefusedError(
            "other_name",
            f"the dashboard of {plain(out.name)} does not answer to {authority}, only to its own control.address and "
            "control.names (one with a port or a scheme is that of a single server); give the crawl the name that the "
            f"page has, without both, and go on with it, or see {plain(url)} on its own machine",
        )
    # In the fragment: a browser does not send it, and the page takes it out of the address.
    token = read_token(token_file(directory))
    return f"{'https' if secure else 'http'}://{authority}/#token={token}"


def _control_of(out: Path) -> ControlSettings:
    """As far as its settings tell: who opened it by hand may have said otherwise."""
    try:
        return load_saved(out / SETTINGS).control
    except SettingsError:
        return ControlSettings()


def _not_alike(name: str, url: str, *, secure: bool) -> RefusedError:
    if secure:
        return RefusedError(
            "only_it_has_tls",
            f"the dashboard of {plain(name)} has TLS and the page has not, so a browser takes it for another site's; "
            f"see {plain(url)}, or serve the page with control.certificate and control.key",
        )
    return RefusedError(
        "no_tls",
        f"the dashboard of {plain(name)} has no TLS and the page has, so its token would go in clear; stop it and go on "
        "with it here, or start it with control.certificate and control.key",
    )
