"""Tokens in a directory of their own are found by everybody who looks beside the crawl."""

import os
import pty
from pathlib import Path

import pytest
from tests.control.serving import Served

from gossamer.control.tokens import ensure_tokens, read_token
from gossamer.errors import SettingsError
from gossamer.simweb import SimWeb


def test_commands_follow_to_a_directory_of_tokens(web: SimWeb, tmp_path: Path):
    place = tmp_path / "tokens"
    place.mkdir(mode=0o700)
    crawl = Served(tmp_path / "out", web)
    crawl.tokens = place
    try:
        crawl.start("--delay", "1s", "--set", f"control.tokens={place}")
        assert not (crawl.control / "token").exists()
        assert "pages" in crawl.command("status")
        assert str(place / "token") in crawl.log("stderr").read_text()
        assert crawl.command("stop")["confirmed"]
        assert crawl.process is not None
        assert crawl.process.wait(60) == 0
        assert not (crawl.control / "tokens").exists()
    finally:
        crawl.kill()


def test_a_terminal_is_shown_the_right_token(web: SimWeb, tmp_path: Path):
    place = tmp_path / "tokens"
    crawl = Served(tmp_path / "out", web)
    ours, theirs = pty.openpty()
    try:
        options = ("--delay", "1s", "--set", f"control.tokens={place}")
        crawl.launch(*options, stderr=theirs)
        os.close(theirs)
        said = b""
        # More may follow the line at once.
        while b"\n" not in said.partition(b"#token=")[2]:
            said += os.read(ours, 4096)
        assert read_token(place / "token").encode() in said
    finally:
        crawl.kill()
        os.close(ours)


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o777, 0o711])
def test_a_directory_of_others_is_refused_and_left_as_it_is(tmp_path: Path, mode: int):
    place = tmp_path / "tokens"
    place.mkdir()
    place.chmod(mode)
    with pytest.raises(SettingsError, match=r"control\.tokens: .* open to others"):
        ensure_tokens(place, shared=True)
    assert place.stat().st_mode & 0o777 == mode
    assert list(place.iterdir()) == []
