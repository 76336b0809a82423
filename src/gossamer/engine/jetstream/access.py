"""Where the engine is, and as whom we come."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from gossamer.errors import SettingsError


@dataclass(frozen=True)
class Access:
    """Addresses, and what is shown there."""

    urls: list[str]
    credentials: Path | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    token: Path | None = None
    """A file, so that the token is in no list of processes."""

    @property
    def shown(self) -> str:
        """What we come with, for messages."""
        files = {"credentials": self.credentials, "token": self.token}
        named = [f"cluster.{name} {file}" for name, file in files.items() if file is not None]
        return f" with {' and '.join(named)}" if named else ""

    def context(self) -> ssl.SSLContext | None:
        """The TLS context, if TLS is asked for by a file or a `tls://` address."""
        asked = any(url.startswith("tls://") for url in self.urls)
        if not (asked or self.tls_ca or self.tls_cert):
            return None
        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
            if self.tls_cert:
                context.load_cert_chain(self.tls_cert, self.tls_key)
        except (OSError, ssl.SSLError) as error:
            raise SettingsError(f"cannot use the TLS files for the engine: {error}") from error
        return context

    @property
    def places(self) -> str:
        """The addresses without the secrets that may stand in them."""
        return ",".join(map(without_secret, self.urls))


def without_secret(url: str) -> str:
    scheme, found, rest = url.rpartition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"
