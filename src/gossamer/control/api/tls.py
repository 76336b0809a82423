"""The certificate of the control API: loaded before anything is served, its faults named by setting."""

import ssl

from gossamer.errors import SettingsError
from gossamer.settings.model import ControlSettings


def make_context(settings: ControlSettings) -> ssl.SSLContext | None:
    """What TLS is spoken with; `None`: none is. An error says which setting is wrong, and why."""
    certificate, key = settings.certificate, settings.key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise SettingsError("control.certificate and control.key go together")
    for name, file in (("certificate", certificate), ("key", key)):
        try:
            with open(file, "rb") as opened:  # noqa: PTH123
                opened.read(1)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise SettingsError(f"control.{name}: cannot read {file}: {why}") from error

    def no_password() -> str:
        # Otherwise the terminal would be asked, and a service has none.
        raise SettingsError(f"control.key: {key} has a password; give a key without one")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, no_password)
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", None) or "not in the form of a PEM file"
        raise SettingsError(
            f"control.certificate and control.key: {certificate} and {key} are no pair that can "
            f"be used: {str(why).lower().replace('_', ' ')}"
        ) from error
    return context
