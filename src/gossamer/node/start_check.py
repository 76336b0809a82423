"""What a node needs in order to start, checked before anything of a crawl is written.

Takes the settings; gives the policies that they name. Guarantees: what is refused here leaves no file
behind, so that the corrected command can be given for the same directory.
"""

from typing import Final

from gossamer import _native
from gossamer.errors import SettingsError
from gossamer.node.native_settings import to_native
from gossamer.policy.chosen import Policies, choose
from gossamer.policy.rules import read_secrets
from gossamer.settings import CrawlSettings

_NAMES: Final = {
    "extra_headers": "fetch.headers",
    "proxy": "fetch.proxy",
    "user_agent": "fetch.agent and fetch.contact",
}


def check_start(settings: CrawlSettings, *, node_name: str | None = None) -> Policies:
    """Makes the policies, reads the credentials, and lets the native part check the rest.

    `node_name`: of a node of a cluster. PolicyError or SettingsError names what is wrong.
    """
    policies = choose(settings)
    secrets = read_secrets(settings)
    text = to_native(settings, node_name=node_name, policies=policies, secrets=secrets)
    try:
        # Without a seed it only reads and compiles: expressions, ranges, rules, columns of doors.
        _native.pack_seeds(text, [])
        # It begins no visit. What it is told of headers, proxy and name servers is read when it starts.
        _native.FetcherPool(text).close()
    except ValueError as error:
        raise SettingsError(_by_our_name(str(error))) from error
    return policies


def _by_our_name(text: str) -> str:
    """The fetcher has its own names for some settings."""
    name, colon, reason = text.partition(": ")
    return f"{_NAMES.get(name, name)}{colon}{reason}"


def seed_refusals(settings: CrawlSettings, urls: list[str]) -> list[str | None]:
    """For each seed None, or why it cannot be taken with these settings."""
    return _native.pack_seeds(to_native(settings), urls)[1]
