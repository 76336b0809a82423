"""TLS to the engine: with the right authority, the wrong one, and a certificate of our own."""

import datetime as dt
import ipaddress
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.crawl.crawling import until

from gossamer.engine import Access, connect
from gossamer.engine.server import find_server, free_port
from gossamer.errors import EngineError

CONFIGURATION = """
port: {port}
host: "127.0.0.1"
jetstream {{ store_dir: "{place}/store" }}
tls {{ cert_file: "{place}/server.pem", key_file: "{place}/server.key",
      ca_file: "{place}/ca.pem", verify: true }}
"""

Key = ec.EllipticCurvePrivateKey


def certificate(name: str, issuer: x509.Certificate | None, key: Key, signer: Key) -> bytes:
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


def write_key(file: Path, key: Key) -> None:
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def make_authority(place: Path, name: str) -> None:
    """An authority, and certificates of it for a server and for us."""
    authority = ec.generate_private_key(ec.SECP256R1())
    text = certificate(name, None, authority, authority)
    (place / "ca.pem").write_bytes(text)
    issuer = x509.load_pem_x509_certificate(text)
    for who in ("server", "client"):
        key = ec.generate_private_key(ec.SECP256R1())
        (place / f"{who}.pem").write_bytes(certificate(who, issuer, key, authority))
        write_key(place / f"{who}.key", key)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("right", "wrong"):
        (tmp_path / name).mkdir()
        make_authority(tmp_path / name, name)
    return tmp_path


@pytest.fixture
def url(place: Path) -> Iterator[str]:
    port = free_port()
    right = place / "right"
    (right / "nats.conf").write_text(CONFIGURATION.format(port=port, place=right))
    messages = right / "messages"
    with messages.open("wb") as file:
        process = subprocess.Popen(
            [find_server(), "-c", str(right / "nats.conf")], stdout=file, stderr=file
        )
    until(lambda: "Server is ready" in messages.read_text(), "the server", 60)
    yield f"tls://127.0.0.1:{port}"
    process.kill()
    process.wait()


def access(url: str, place: Path, own: Path | None) -> Access:
    if own is None:
        return Access([url], tls_ca=place / "ca.pem")
    return Access(
        [url], tls_ca=place / "ca.pem", tls_cert=own / "client.pem", tls_key=own / "client.key"
    )


async def test_with_the_right_certificates(url: str, place: Path) -> None:
    right = place / "right"
    engine = await connect(access(url, right, right), "web", "test")
    assert engine.connected
    await engine.close()


async def test_a_server_of_another_authority_is_not_trusted(url: str, place: Path) -> None:
    with pytest.raises(EngineError, match="certificate"):
        await connect(access(url, place / "wrong", place / "right"), "web", "test")


async def test_the_server_does_not_trust_us(url: str, place: Path) -> None:
    with pytest.raises(EngineError):
        await connect(access(url, place / "right", place / "wrong"), "web", "test")
    with pytest.raises(EngineError):
        await connect(access(url, place / "right", None), "web", "test")
