"""Django projects behind nginx: their processes run in the harness's own venv, by gunicorn."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.realweb.backends import process
from tests.realweb.install import VENV

WSGI_PORT = 29005
WORKERS = 2
SCRIPTS = Path(__file__).with_name("scripts")


def python(project: Path, settings: str, *arguments: str | Path) -> None:
    """Runs a script or a command of a project to its end."""
    subprocess.run(
        [VENV / "bin/python", *arguments],
        cwd=project, env=_environment(project, settings), check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip


@contextlib.contextmanager
def wsgi(project: Path, settings: str, application: str, address: str) -> Iterator[None]:
    """The project's pages at this address, `application` being module and name."""
    command: list[str | Path] = [
        VENV / "bin/gunicorn", "-b", f"{address}:{WSGI_PORT}", "-w", str(WORKERS), "--no-control-socket",
        "--forwarded-allow-ips", "*", "--chdir", project, application,
    ]  # fmt: skip
    environment = _environment(project, settings)
    log = project / "gunicorn.log"
    with process(
        command, ready=(address, WSGI_PORT), log=log, folder=project, environment=environment
    ):
        yield


def wsgi_locations(address: str, static: Path) -> str:
    """For a server block: static files from a folder, the rest by gunicorn."""
    return (
        f"location /static/ {{ alias {static}/; }}\n"
        f"        location / {{ proxy_pass http://{address}:{WSGI_PORT}; proxy_set_header Host $host:$server_port; }}"
    )


def _environment(project: Path, settings: str) -> dict[str, str]:
    return {
        "PYTHONPATH": str(project),
        "DJANGO_SETTINGS_MODULE": settings,
        "PATH": "/usr/bin:/bin",
        "PYTHONWARNINGS": "ignore",
    }
