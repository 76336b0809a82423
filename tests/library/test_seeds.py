"""Seeds from arguments and files."""

from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.library import read_seeds


def test_comments_may_be_indented_and_fragments_stay(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_text("# all\n  # indented\n\n http://a.example/#part \nb.example\n")
    assert read_seeds([" c.example "], file) == [
        "http://c.example",
        "http://a.example/#part",
        "http://b.example",
    ]


def test_no_seed_at_all_is_wrong_use(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_text("   # nothing\n")
    with pytest.raises(UsageError, match="no seed given"):
        read_seeds([], file)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_seeds([], file)
