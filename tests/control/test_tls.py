"""TLS by setting: the same API, over a certificate of one's own."""

import datetime as dt
import http.client
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.control.serving import Served, until

from gossamer.simweb import SimWeb


def certificate(place: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "control")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain, secret = place / "cert.pem", place / "key.pem"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return chain, secret


def test_the_api_speaks_tls(web: SimWeb, tmp_path: Path):
    chain, key = certificate(tmp_path)
    crawl = Served(tmp_path / "out", web)
    context = ssl.create_default_context(cafile=str(chain))

    def ask(**headers: str) -> int:
        connection = http.client.HTTPSConnection(crawl.authority, timeout=60, context=context)
        try:
            connection.request("GET", "/api/v1/access", headers=headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def answers() -> bool:
        return (crawl.control / "url").exists()

    options = ("--delay", "1s", "--set", f"control.certificate={chain}")
    try:
        crawl.launch(*options, "--set", f"control.key={key}")
        until(answers, "the API")
        assert crawl.url.startswith("https://127.0.0.1:")
        token = f"Bearer {crawl.token()}"
        assert ask() == 401
        assert ask(Authorization=token) == 200
        assert ask(Authorization=token, Origin=crawl.url) == 200
        assert ask(Authorization=token, Origin=crawl.url.replace("https", "http")) == 403
    finally:
        crawl.kill()


def test_half_a_pair_is_refused(web: SimWeb, tmp_path: Path):
    crawl = Served(tmp_path / "out", web)
    crawl.launch("--set", "control.certificate=/nowhere.pem")
    assert crawl.process is not None
    assert crawl.process.wait(60) == 2
    assert "control.key" in crawl.log("stderr").read_text()
