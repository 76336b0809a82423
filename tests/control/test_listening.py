"""What keeps the API from being served is told by the name of its setting, before the crawl begins."""

import socket
import subprocess
from pathlib import Path

import pytest
from tests.control.serving import GOSSAMER, Served
from tests.control.test_tls import certificate

from gossamer.control.api.server import PortTakenError, check, listen
from gossamer.settings.model import ControlSettings
from gossamer.simweb import SimWeb


def files(place: Path) -> dict[str, Path]:
    (place / "one").mkdir()
    (place / "other").mkdir()
    chain, key = certificate(place / "one")
    _, other = certificate(place / "other")
    words = place / "words.pem"
    words.write_text("no certificate\n")
    return {"chain": chain, "key": key, "other": other, "words": words, "none": place / "none.pem"}


PAIRS = [
    ("none", "key", "control.certificate: cannot read"),
    ("chain", "none", "control.key: cannot read"),
    ("words", "key", "control.certificate and control.key"),
    ("chain", "words", "control.certificate and control.key"),
    ("chain", "other", "key values mismatch"),
]


def pair(place: Path, chain: str, key: str) -> list[str]:
    found = files(place)
    return [
        "--set", f"control.certificate={found[chain]}", "--set", f"control.key={found[key]}",
    ]  # fmt: skip


def control(place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Nobody answers at this engine: what is wrong here is found before it is asked."""
    command = [*GOSSAMER, "control", "--engine", "nats://127.0.0.1:1", "--out", str(place / "out")]
    return subprocess.run(
        [*command, *options], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(("chain", "key", "said"), PAIRS)
def test_a_control_node_names_what_is_wrong_with_its_certificate(
    tmp_path: Path, chain: str, key: str, said: str
):
    done = control(tmp_path, *pair(tmp_path, chain, key))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_crawl_names_what_is_wrong_with_its_certificate(web: SimWeb, tmp_path: Path):
    crawl = Served(tmp_path / "out", web)
    crawl.launch(*pair(tmp_path, "none", "key"))
    assert crawl.process is not None
    assert crawl.process.wait(60) == 2
    said = crawl.log("stderr").read_text()
    assert "control.certificate: cannot read" in said
    assert "Traceback" not in said


def test_an_address_of_another_machine_ends_a_control_node(tmp_path: Path):
    done = control(tmp_path, "--set", "control.address=192.0.2.1")
    assert done.returncode == 2
    assert "192.0.2.1" in done.stderr
    assert "control.address and control.port" in done.stderr
    assert "--serve-port" not in done.stderr


def test_a_taken_port_is_waited_for_by_a_control_node_and_ends_a_crawl(web: SimWeb, tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        settings = ControlSettings(port=port)
        check(settings)
        with pytest.raises(PortTakenError, match=r"choose another port with control\.port$"):
            listen(settings)
        crawl = Served(tmp_path / "out", web)
        crawl.launch("--serve-port", str(port))
        assert crawl.process is not None
        assert crawl.process.wait(60) == 1
        assert "choose another port with --serve-port" in crawl.log("stderr").read_text()
