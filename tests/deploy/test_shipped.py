"""What is shipped to run a cluster: each command is one that our program takes, each file one that is read.

The servers themselves run with the shipped configuration in `tests/cluster/test_engines.py`.
"""

import os
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from gossamer.cli import main
from gossamer.cli.commands import COMMANDS as OURS
from gossamer.engine.names import check_node_name
from gossamer.engine.server import find_server
from gossamer.settings import load
from gossamer.settings.assignments import assignments

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
TOKEN = "t0123456789abcdef"
ENVIRONMENT = {
    "NATS_TOKEN": TOKEN,
    "SEED": "https://example.org/",
    "GOSSAMER_ENGINE": "nats://10.0.0.1:4222,nats://10.0.0.2:4222",
    "GOSSAMER_SNAPSHOTS": "s3://bucket/crawls",
}


def filled_in(text: str) -> str:
    """As compose and systemd fill in variables; one that nobody gives fails."""
    text = re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda found: ENVIRONMENT[found[1]], text)
    return text.replace("$$", "$")


@cache
def services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load(filled_in((DEPLOY / "compose.yaml").read_text()))
    return services


def entrypoint() -> list[str]:
    """Of the image that all services are of."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("ENTRYPOINT ")]
    words: list[str] = yaml.safe_load(line.removeprefix("ENTRYPOINT "))
    return words


def unit_commands(unit: Path) -> list[str]:
    text = unit.read_text().replace("\\\n", " ")
    (line,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    # Host names often have dots; the short one, which %l is, has none.
    return shlex.split(filled_in(line.replace("%l", "host-1")))


COMMANDS = {
    **{unit.stem: unit_commands(unit) for unit in UNITS},
    **{
        name: [*service.get("entrypoint", entrypoint()), *service["command"]]
        for name, service in services()["services"].items()
    },
}


def options_of(words: list[str]) -> dict[str, Any]:
    """As our own command line reads them; what it does not know is refused."""
    one = typer.Typer(add_completion=False)
    one.command()(main.load(OURS[words[0]]))
    with typer.main.get_command(one).make_context(words[0], words[1:]) as context:
        return dict(context.params)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_one_that_is_taken(name: str) -> None:
    program, *words = COMMANDS[name]
    if Path(program).name == "nats-server":
        assert words[0] == "-c"
        assert len(words) == 2
        return
    assert Path(program).name == "gossamer"
    options = options_of(words)
    # The settings too are known and in their range; the engine wants the token.
    effective = load(None, assignments(options["settings"]))
    assert effective.cluster.token
    check_node_name(options["name"] or "control")
    assert options["engine"].startswith("nats://")
    if words[0] == "node":
        assert options["snapshots"]


def test_an_unknown_option_would_be_found() -> None:
    with pytest.raises(Exception, match="No such option"):
        options_of(["node", "--no-such-option"])


def accepted(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    configuration = DEPLOY / "nats" / "gossamer.conf"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NATS_")}
    return subprocess.run(
        [find_server(), "-t", "-c", configuration],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_servers_take_their_configuration() -> None:
    found = {name: one for name, one in services()["services"].items() if name.startswith("nats")}
    assert len(found) == 3
    for name, service in found.items():
        environment = service["environment"]
        assert environment["NATS_NAME"] == name
        assert "./nats/gossamer.conf:/nats.conf:ro" in service["volumes"]
        assert service["command"] == ["-c", "/nats.conf"]
        ended = accepted(environment)
        assert ended.returncode == 0, ended.stderr
    # Each variable is asked for: none is left to chance, least of all the token.
    environment = found["nats-1"]["environment"]
    for missing in environment:
        ended = accepted({key: value for key, value in environment.items() if key != missing})
        assert ended.returncode != 0
        assert missing in ended.stderr


def test_the_unit_and_the_configuration_name_the_same_variables() -> None:
    wanted = set(services()["services"]["nats-1"]["environment"])
    unit = (DEPLOY / "systemd" / "gossamer-nats.service").read_text()
    assert set(re.findall(r"NATS_[A-Z]+", unit)) == wanted


def test_the_unit_refuses_an_empty_secret() -> None:
    """The server itself would take it, and let everybody in."""
    unit = (DEPLOY / "systemd" / "gossamer-nats.service").read_text()
    (line,) = re.findall(r"^ExecStartPre=(.*)$", unit, re.MULTILINE)
    for secret, code in (("", 1), ("t1", 0)):
        ended = subprocess.run(
            shlex.split(line.replace("$$", "$")),
            env=os.environ | {"NATS_TOKEN": secret}, capture_output=True, check=False,
        )  # fmt: skip
        assert ended.returncode == code


def test_volumes_secrets_and_services_exist() -> None:
    whole = services()
    made = re.findall(r"install -d -o gossamer (.*)", (ROOT / "Dockerfile").read_text())
    for name, service in whole["services"].items():
        assert service["image"] == "gossamer"
        for volume in service["volumes"]:
            source, target, *_ = volume.split(":")
            if source.startswith("."):
                assert (DEPLOY / source).is_file()
            else:
                assert source in whole["volumes"]
                # A directory that the image does not have would be root's, and we are not.
                assert target in made[0].split()
        assert set(service.get("depends_on", [])) <= set(whole["services"])
        assert set(service.get("secrets", [])) <= set(whole["secrets"])
        words = COMMANDS[name]
        assert ("--set=cluster.token=/run/secrets/token" in words) == ("secrets" in service)
    assert whole["secrets"] == {"token": {"environment": "NATS_TOKEN"}}


def findings(place: Path, change: str = "") -> list[str]:
    """What systemd says of our units; those of the machine are its own business."""
    program = place / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for unit in UNITS:
        # The programs are not installed here, so that they are missing is not a finding.
        text = re.sub(r"/opt/gossamer/bin/[\w-]+", str(program), unit.read_text())
        (place / unit.name).write_text(text.replace("[Install]", f"{change}\n[Install]"))
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(place / unit.name) for unit in UNITS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    names = {unit.name for unit in UNITS}
    lines = (ended.stdout + ended.stderr).splitlines()
    return [line for line in lines if any(name in line for name in names)]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    assert findings(tmp_path) == []
    assert len(findings(tmp_path, "Restrat=always")) == len(UNITS)
