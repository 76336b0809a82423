"""TLS that fails, each in its way, and TLS that does not."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.native.hostile_server import Handler, HostileServer, send, then_reset, then_silence

from gossamer._native import Fetcher

LIMITS = {"connect": 20.0, "tls": 20.0, "first_byte": 20.0, "stall": 20.0, "total": 60.0}
SHORT = LIMITS | {"tls": 2.0}
"""For a handshake that never ends."""
PAGE = send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def authority(title: str) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name(title))
        .issuer_name(name(title))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - 9 * DAY)
        .not_valid_after(NOW + 9 * DAY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(key, certificate)


def context(
    folder: Path,
    root: Authority,
    *,
    begins: dt.datetime = NOW - DAY,
    ends: dt.datetime = NOW + DAY,
    host: str = "site.example",
) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    names: list[x509.GeneralName] = [x509.DNSName(host)]
    if host == "site.example":
        names.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name(host))
        .issuer_name(root.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(root.key, hashes.SHA256())
    )
    path = folder / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(path)
    return made


@pytest.fixture(scope="module")
def root() -> Authority:
    return authority("root")


def fetcher(*roots: Authority, limits: dict[str, float] = LIMITS) -> Fetcher:
    return Fetcher(
        {
            "allow_private": True,
            "limits": limits,
            "dns": {"fixed": {"site.example": ["127.0.0.1"]}},
            "tls": {"extra_roots": [known.der for known in roots]},
        }
    )


@pytest.mark.parametrize("host", ["site.example", "127.0.0.1"])
def test_a_good_certificate(tmp_path: Path, root: Authority, host: str) -> None:
    with HostileServer(default=PAGE, tls=context(tmp_path, root)) as server:
        [response] = fetcher(root).fetch([server.url(scheme="https", host=host)])
    assert (response.outcome, response.body) == ("fetched", b"ok"), response
    assert response.timings[2] > 0


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("unknown", "UnknownIssuer"), ("expired", "expired"), ("early", "not valid yet"), ("wrong host", "not valid for")],
)  # fmt: skip
def test_bad_certificates(tmp_path: Path, root: Authority, kind: str, reason: str) -> None:
    made = {
        "unknown": lambda: context(tmp_path, authority("stranger")),
        "expired": lambda: context(tmp_path, root, begins=NOW - 5 * DAY, ends=NOW - DAY),
        "early": lambda: context(tmp_path, root, begins=NOW + DAY, ends=NOW + 5 * DAY),
        "wrong host": lambda: context(tmp_path, root, host="other.example"),
    }[kind]()
    with HostileServer(default=PAGE, tls=made) as server:
        [response] = fetcher(root).fetch([server.url(scheme="https", host="site.example")])
    assert response.outcome == "tls_failed"
    assert reason in response.detail
    assert server.requests == [], "a request was sent before the certificate was judged"


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (send(b""), "tls_failed"),
        (then_reset(), "tls_failed"),
        (send(b"HTTP/1.1 400 Plain\r\n\r\n"), "tls_failed"),
        (send(b"\x16\x03\x03\xff\xff" + b"x" * 70_000), "tls_failed"),
        (then_silence(), "timed_out"),
    ],
    ids=["closed", "reset", "plain HTTP", "noise", "silence"],
)
def test_handshakes_that_do_not_happen(root: Authority, behaviour: Handler, outcome: str) -> None:
    with HostileServer(on_connect=behaviour) as server:
        began = time.monotonic()
        limits = SHORT if outcome == "timed_out" else LIMITS
        fetching = fetcher(root, limits=limits)
        [response] = fetching.fetch([server.url(scheme="https", host="site.example")])
        assert time.monotonic() - began < 3.5
    assert response.outcome == outcome, response


def test_a_body_that_ends_with_the_connection(tmp_path: Path, root: Authority) -> None:
    answer = send(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
    with HostileServer(default=answer, tls=context(tmp_path, root)) as server:
        [response] = fetcher(root).fetch([server.url(scheme="https", host="site.example")])
    assert (response.outcome, response.body) == ("fetched", b"until the end")
