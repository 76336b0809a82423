"""The watch over the event loop itself: it must be able to fail."""

import asyncio
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from blockbuster import BlockingError
from tests.packages.installing import path_with

from gossamer.settings import load


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "crawl.toml"
    file.write_text("[limits]\npages = 7\n")
    return file


async def test_a_blocking_call_of_ours_in_the_loop_raises(config: Path):
    with pytest.raises(BlockingError):
        load(config, {})


async def test_the_same_call_in_a_thread_passes(config: Path):
    assert (await asyncio.to_thread(load, config, {})).limits.pages == 7


@pytest.mark.parametrize("with_package", [False, True])
def test_processes_that_tests_start_are_watched_too(config: Path, with_package: bool):
    code = """
        import asyncio, pathlib, sys
        from gossamer.settings import load
        async def main():
            load(pathlib.Path(sys.argv[1]), {})
        asyncio.run(main())
    """
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(config)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | ({"PYTHONPATH": path_with(config.parent)} if with_package else {}),
    )
    assert "BlockingError" in told.stderr
