"""What a node needs in order to start, checked before anything of a crawl is written.

Takes the settings; gives the policies that they name. Guarantees: what is refused here leaves no file
behind, so that the corrected command can be given for the same directory.
"""

from gossamer import _native
from gossamer.errors import SettingsError
from gossamer.node.native_settings import to_native
from gossamer.policy.chosen import Policies, choose
from gossamer.policy.rules import read_secrets
from gossamer.settings import CrawlSettings


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
    except ValueError as error:
        raise SettingsError(str(error)) from error
    return policies
