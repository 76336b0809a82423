"""The door `rules`: judgement that is declared, not called.

A list of rules (`gossamer.settings.rules.Rule`, `[[rule]]` in TOML) says where what holds; the native part
compiles it once and applies it to every link, host, request and page. No Python runs per link.
"""

from gossamer.policy.rules.declared import Secrets, read_secrets, to_native

__all__ = ["Secrets", "read_secrets", "to_native"]
