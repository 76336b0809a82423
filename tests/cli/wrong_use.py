"""Wrong use of every command, as tables: directories that hold no crawl, and how a command names one."""

import os
import shutil
from pathlib import Path

import pytest

from gossamer.cli.commands import COMMANDS

URL = "http://127.0.0.1:9/"
NOWHERE = "http://127.0.0.1:1"
"""A port that nobody listens on."""
IN_DIRECTORY: dict[str, list[str]] = {
    "crawl": ["crawl", "--resume", "--out"],
    "cluster": ["cluster", "--resume", "--out"],
    "settings": ["settings", "--out"],
    "status": ["status", "--out"],
    "report": ["report"],
    "open": ["open"],
    "why": ["why", URL, "--out"],
    "audit": ["audit"],
    "export": ["export"],
    "patterns": ["patterns"],
    "aliases": ["aliases"],
    "pause": ["pause", "--out"],
    "resume": ["resume", "--out"],
    "stop": ["stop", "--out"],
    "set": ["set", "limits.pages=5", "--out"],
    "seed": ["seed", URL, "--out"],
    "slow": ["slow", "a.example", "--gap", "5s", "--out"],
    "retry": ["retry", "a.example", "--out"],
    "block": ["block", "a.example", "--out"],
    "unblock": ["unblock", "a.example", "--out"],
    "rerank": ["rerank", "--out"],
    "checkpoint": ["checkpoint", "--out"],
    "nodes": ["nodes", "--out"],
    "nodes add": ["nodes", "add", "--out"],
}
"""The directory comes last."""
NO_DIRECTORY = {"crawls", "control", "node", "simweb", "completion"}
"""They look at none: what they are given is made, they need none, or they look at a folder, which may hold none."""
ASKING = [name for name, words in IN_DIRECTORY.items() if "--out" in words and name not in {"crawl", "cluster", "settings"}]  # fmt: skip
"""Those that ask a control node."""

assert {name.split()[0] for name in IN_DIRECTORY} | NO_DIRECTORY == set(COMMANDS)


def places(root: Path) -> None:
    """Directories that no command can use, in `root`."""
    (root / "file").write_text("no crawl\n")
    (root / "empty").mkdir()
    other = root / "photos"
    other.mkdir()
    (other / "a.jpg").write_bytes(b"\xff\xd8")
    locked = root / "locked"
    (locked / "state").mkdir(parents=True)
    (locked / "crawl.toml").write_text("")
    locked.chmod(0)
    odd = root / "odd"
    (odd / "state").mkdir(parents=True)
    (odd / "log").mkdir()
    (odd / "crawl.toml").write_bytes(b"\xff\x00 = [")
    refused = root / "refused"
    (refused / "control").mkdir(parents=True)
    (refused / "control" / "url").write_text(f"{NOWHERE}\n")
    (refused / "control" / "pid").write_text(f"{os.getpid()}\n")
    token = refused / "control" / "token"
    token.write_text("x" * 43)
    token.chmod(0o600)


def without_rights() -> list[str]:
    """Words before a command that take from root what lets it read everything; none where nobody is root.

    Skips, saying so, where they cannot be taken.
    """
    if os.getuid() != 0:
        return []
    tool = shutil.which("setpriv")
    if tool is None:
        pytest.skip("root may read everything here: setpriv is not installed")
    rights = "-dac_override,-dac_read_search"
    return [tool, f"--bounding-set={rights}", f"--inh-caps={rights}"]
