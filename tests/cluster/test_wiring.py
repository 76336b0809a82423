"""What a node of a cluster reads from its machine, it reads once."""

from pathlib import Path

import pytest

from gossamer.errors import SettingsError
from gossamer.node.clustered import NativeWiring
from gossamer.settings.load import check
from gossamer.settings.table import changed


def test_a_change_of_settings_needs_no_file_of_credentials(tmp_path: Path) -> None:
    """The file may be away, or be being written, at that moment: that must not end the node."""
    secret = tmp_path / "token"
    secret.write_text("s3cret")
    settings = check(
        {
            "credentials": {"c": {"headers": {"Authorization": f"file:{secret}"}}},
            "rule": [{"name": "r", "match": {"host": ["a.example"]}, "credentials": "c"}],
        },
        "x",
    )
    wiring = NativeWiring()
    node = wiring.open_node(tmp_path / "n1", settings, "n1-x")
    try:
        secret.unlink()
        text = wiring.native_text(changed(settings, {"politeness.delay": "3s"}), "n1-x")
        assert "s3cret" in text
        node.set_settings(text)
    finally:
        node.close()
    with pytest.raises(SettingsError, match="cannot read"):
        NativeWiring().open_node(tmp_path / "n2", settings, "n2-x")
