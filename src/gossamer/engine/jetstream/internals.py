"""What we need of the client and it does not offer: two private attributes, each used in one place.

`pyproject.toml` bounds the client's version for their sake, and `tests/engine/test_opening.py` fails when a
new version has them no longer.
"""

import asyncio
from typing import Any

from nats.aio.client import Client


def search(client: Client) -> "asyncio.Future[Any] | None":
    """The task in which the client looks for a server, if it does.

    Closing the client may not end it, and then the process would not end either.
    """
    return client._reconnection_task  # noqa: SLF001


def drop_line(client: Client) -> None:
    """Closes the line of a client that was refused: the client leaves it open."""
    if client._transport is not None:  # noqa: SLF001
        client._transport.close()  # type: ignore[no-untyped-call]  # noqa: SLF001
