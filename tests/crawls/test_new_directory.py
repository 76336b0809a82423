"""The directory of a new crawl is made by the page, and removed only as long as it is empty."""

from pathlib import Path

import pytest

from gossamer.control.service import RefusedError
from gossamer.crawls.names import make_new, new_crawl
from gossamer.crawls.starting import remove_empty


def test_what_somebody_else_made_meanwhile_is_not_taken(tmp_path: Path) -> None:
    out = new_crawl(tmp_path, "new")
    out.mkdir()
    with pytest.raises(RefusedError, match="there is a new already"):
        make_new(out)
    out.rmdir()
    out.symlink_to("/nonexistent/place")
    with pytest.raises(RefusedError, match="there is a new already"):
        make_new(out)


def test_only_an_empty_directory_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "new"
    make_new(out)
    (out / "photo.jpg").touch()
    assert not remove_empty(out)
    assert (out / "photo.jpg").exists()
    (out / "photo.jpg").unlink()
    assert remove_empty(out)
    assert not out.exists()
    link = tmp_path / "link"
    link.symlink_to(tmp_path, target_is_directory=True)
    assert not remove_empty(link)
    assert link.is_symlink()
