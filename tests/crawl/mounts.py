"""File systems of a test's own: small ones that fill up, and images that can be copied."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


def _tried(*command: str) -> None:
    """Runs a command of the system; where it is not permitted the test is skipped, saying so."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"{command[0]} is not installed")
    if done.returncode:
        pytest.skip(f"not permitted here: {' '.join(command)}: {done.stderr.strip()}")


def _needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")


@contextlib.contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    _needs_root()
    place.mkdir()
    _tried("mount", "-t", "tmpfs", "-o", f"size={size}", "gossamer-test", str(place))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def make_larger(place: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(place)], check=True)


def make_image(image: Path, megabytes: int) -> None:
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    _tried("mkfs.ext4", "-q", str(image))


@contextlib.contextmanager
def mounted(image: Path, place: Path) -> Iterator[None]:
    _needs_root()
    place.mkdir(exist_ok=True)
    # The system writes nothing by itself while the test runs: only what is flushed is there.
    _tried("mount", "-o", "loop,commit=300", str(image), str(place))
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)
