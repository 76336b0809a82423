"""Says where the control API of a crawl is, and how to get in."""

import sys
from pathlib import Path

from gossamer import words
from gossamer.control.tokens import read_token, token_file


def tell_where(url: str, directory: Path, *, plain: bool) -> None:
    """On the standard error. The token itself is shown to a terminal only, never to a log."""
    file = token_file(directory)
    if sys.stderr.isatty():
        # In the fragment: a browser does not send it, and the page takes it out of the address.
        token = read_token(file)
        print(f"dashboard: {url}/#token={token}", file=sys.stderr)
    else:
        print(
            f"control API and dashboard: {url} (token in {words.plain(str(file))})", file=sys.stderr
        )
    if plain:
        print(
            "the control API listens beyond this machine without TLS: who can listen on the way "
            "can read the token; see control.certificate and control.key",
            file=sys.stderr,
        )
    sys.stderr.flush()
