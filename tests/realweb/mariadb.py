"""MariaDB as a process of the application that needs it, with its data below the application's folder."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.realweb.backends import process

MARIADB_PACKAGES = ("mariadb-server",)
MARIADB_PORT = 29002
"""At the address of its application: a path of a Unix socket may be too long."""
# No configuration of the system; an open door, on a loopback address; data that can be made again needs no fsync.
OPTIONS = (
    "--no-defaults",
    "--user=root",
    "--skip-grant-tables",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=128M",
    "--innodb-log-file-size=16M",
)


def create(folder: Path) -> None:
    """An empty server's data."""
    subprocess.run(
        [
            "mariadb-install-db", *OPTIONS[:2], f"--datadir={folder / 'mariadb'}",
            "--auth-root-authentication-method=normal", "--skip-test-db",
        ],
        check=True, capture_output=True,
    )  # fmt: skip


@contextlib.contextmanager
def mariadb(folder: Path, address: str) -> Iterator[None]:
    """The server of the data that `create` made. `localhost` of its clients is not this one: use the address."""
    program = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
    command = [
        program, *(OPTIONS if os.geteuid() == 0 else (OPTIONS[0], *OPTIONS[2:])),
        f"--datadir={folder / 'mariadb'}", f"--bind-address={address}", f"--port={MARIADB_PORT}",
        "--socket=", f"--pid-file={folder / 'mariadb.pid'}",
    ]  # fmt: skip
    with process(command, ready=(address, MARIADB_PORT), log=folder / "mariadb.log"):
        yield
