"""A build backend (PEP 517) for a package of plain files: the files, and the metadata of pyproject."""

import base64
import hashlib
import tomllib
import zipfile
from pathlib import Path


def build_wheel(
    wheel_directory: str,
    config_settings: object = None,
    metadata_directory: str | None = None,
) -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    package = project["name"].replace("-", "_")
    stem = f"{package}-{project['version']}"
    points = "\n".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in table.items())
        for group, table in project["entry-points"].items()
    )
    info = f"{stem}.dist-info"
    files = {str(path): path.read_bytes() for path in sorted(Path(package).glob("*.py"))}
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    ).encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/entry_points.txt"] = points.encode()
    rows = [f"{name},sha256={_digest(body)},{len(body)}" for name, body in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,\n"]).encode()
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as wheel:
        for path, body in files.items():
            wheel.writestr(path, body)
    return name


def _digest(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
