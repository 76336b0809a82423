"""Debian packages and the harness's own venv. What cannot be had raises `UnavailableError`, with the reason."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.realweb.app import CACHE

UNPACKED = CACHE / "unpacked"
VENV = CACHE / "venv"
PINNED = Path(__file__).with_name("requirements.txt")
"""The versions of everything that goes into the venv."""
POLICY = Path("/usr/sbin/policy-rc.d")


class UnavailableError(Exception):
    """An application or a crawler cannot run here; the message says why."""


def install(packages: Sequence[str]) -> None:
    """Installs those that are missing, without starting any service."""
    missing = [package for package in packages if not installed(package)]
    if not missing:
        return
    if shutil.which("apt-get") is None:
        raise UnavailableError(f"needs {' '.join(missing)}, and there is no apt-get")
    if os.geteuid() != 0:
        raise UnavailableError(f"needs root once, for apt-get install {' '.join(missing)}")
    with services_stay_off():
        _apt("install", "-y", "-q", "--no-install-recommends", "--no-upgrade", *missing)


def installed(package: str) -> bool:
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status}", package],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return answer.stdout == "installed"


def unpack(packages: Sequence[str]) -> None:
    """Puts the files of packages below `UNPACKED`; needs no root."""
    UNPACKED.mkdir(parents=True, exist_ok=True)
    for package in packages:
        stamp = UNPACKED / f".{package}"
        if stamp.exists():
            continue
        if shutil.which("apt-get") is None:
            raise UnavailableError(f"needs the files of {package}, and there is no apt-get")
        folder = UNPACKED / f".{package}.deb"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        _apt("download", "-q", package, folder=folder)
        for archive in folder.iterdir():
            subprocess.run(["dpkg-deb", "-x", archive, UNPACKED], check=True)
        shutil.rmtree(folder)
        stamp.touch()


@contextlib.contextmanager
def services_stay_off() -> Iterator[None]:
    """Package scripts ask `policy-rc.d` before they start a service; a policy that is there is left alone."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def _apt(*arguments: str, folder: Path | None = None) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", *arguments]
    done = _run(command, folder, environment)
    # Lists may be missing or older than the archive; only root can renew them.
    if done.returncode != 0 and os.geteuid() == 0:
        _run(["apt-get", "update", "-q"], None, environment)
        done = _run(command, folder, environment)
    if done.returncode != 0:
        raise UnavailableError(f"{' '.join(command)}: {_reason(done)}")


def venv(requirements: Sequence[str], place: Path = VENV, pinned: Path = PINNED) -> Path:
    """The Python of the harness's venv, with these packages in the pinned versions.

    `place`: another venv, for what cannot live beside the rest.
    """
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
    wanted = "\n".join(sorted(requirements)) + pinned.read_text()
    stamp = place / f".{hashlib.sha256(wanted.encode()).hexdigest()[:16]}"
    if not stamp.exists():
        pip = [str(python), "-m", "pip", "install", "-q", "-c", str(pinned), *requirements]
        done = _run(pip, None, os.environ)
        if done.returncode != 0:
            raise UnavailableError(f"pip install {' '.join(requirements)}: {_reason(done)}")
        stamp.touch()
    return python


def _run(
    command: Sequence[str], folder: Path | None, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip().splitlines() or ["no reason given"])[-1]
