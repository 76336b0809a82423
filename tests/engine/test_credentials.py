"""Users with a JWT and a key of their own: a real server that knows an operator and an account."""

import asyncio
import base64
import json
import secrets
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import nkeys
import pytest
from tests.crawl.crawling import until

from gossamer.engine import Access, Engine, connect
from gossamer.engine.server import find_server, free_port
from gossamer.errors import EngineRefusedError, SettingsError

CONFIGURATION = """
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{place}/store" }}
operator: {operator}
system_account: {system}
resolver: MEMORY
resolver_preload: {{ {system}: {system_claims}, {account}: {claims} }}
"""
LIMITS = ("subs", "data", "payload", "imports", "exports", "conn", "leaf")
STORE_LIMITS = ("mem_storage", "disk_storage", "streams", "consumer")


class Identity:
    """A key, and what it signs."""

    def __init__(self, kind: int) -> None:
        self.seed = nkeys.encode_seed(secrets.token_bytes(32), kind)
        self._pair = nkeys.from_seed(bytearray(self.seed))
        self.public = self._pair.public_key.decode()

    def sign(self, about: "Identity", kind: str, **nats: object) -> str:
        claims = {
            "jti": secrets.token_hex(16),
            "iat": int(time.time()),
            "iss": self.public,
            "sub": about.public,
            "name": kind,
            "nats": {"type": kind, "version": 2, **nats},
        }
        text = f"{_part({'typ': 'JWT', 'alg': 'ed25519-nkey'})}.{_part(claims)}"
        return f"{text}.{_base64(self._pair.sign(text.encode()))}"


def _part(value: object) -> str:
    return _base64(json.dumps(value).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def write(file: Path, jwt: str, who: Identity) -> Path:
    """In the form of NATS's own tool."""
    file.write_text(
        f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
        "************************* IMPORTANT *************************\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{who.seed.decode()}\n------END USER NKEY SEED------\n"
    )
    return file


class Operated:
    """The server, and the account whose users it lets in."""

    def __init__(self, place: Path) -> None:
        self._place = place
        operator = Identity(nkeys.PREFIX_BYTE_OPERATOR)
        self.account = Identity(nkeys.PREFIX_BYTE_ACCOUNT)
        system = Identity(nkeys.PREFIX_BYTE_ACCOUNT)
        plain = dict.fromkeys(LIMITS, -1) | {"wildcards": True}
        limits = plain | dict.fromkeys(STORE_LIMITS, -1)
        port = free_port()
        self.url = f"nats://127.0.0.1:{port}"
        configuration = place / "nats.conf"
        configuration.write_text(
            CONFIGURATION.format(
                port=port,
                place=place,
                operator=operator.sign(operator, "operator"),
                system=system.public,
                system_claims=operator.sign(system, "account", limits=plain),
                account=self.account.public,
                claims=operator.sign(self.account, "account", limits=limits),
            )
        )
        messages = place / "messages"
        with messages.open("wb") as file:
            self.process = subprocess.Popen(
                [find_server(), "-c", str(configuration)], stdout=file, stderr=file
            )
        until(lambda: self._ready(messages), "the server", 60.0)

    def _ready(self, messages: Path) -> bool:
        assert self.process.poll() is None, messages.read_text()
        return "Server is ready" in messages.read_text()

    def user(self, account: Identity | None = None) -> Path:
        """The credentials of a new user, of the account that is known or of another one."""
        who = Identity(nkeys.PREFIX_BYTE_USER)
        jwt = (account or self.account).sign(who, "user", subs=-1, data=-1, payload=-1)
        return write(self._place / f"{who.public}.creds", jwt, who)

    def access(self, file: Path) -> Access:
        return Access([self.url], credentials=file)


@pytest.fixture
def operated(tmp_path: Path) -> Iterator[Operated]:
    one = Operated(tmp_path)
    yield one
    one.process.kill()
    one.process.wait()


async def user(engine: Engine) -> str:
    """Who the server takes us for."""
    answer = json.loads(await engine.request("$SYS.REQ.USER.INFO", b""))
    return str(answer["data"]["user"])


async def test_a_user_of_the_account_is_let_in(operated: Operated) -> None:
    file = operated.user()
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    engine = await connect(operated.access(file), "web", "test")
    bucket = engine.bucket("web_crawl")
    await bucket.make(1)
    await bucket.create("key", b"value")
    first, renewed = await user(engine), operated.user()
    assert first == file.stem
    # A file that is broken while we run does no harm, and a renewed one counts, at the next connection.
    for text, wanted in (("", first), (renewed.read_text(), renewed.stem)):
        file.write_text(text)
        before = engine.connections
        await engine._client._process_op_err(ConnectionResetError())
        async with asyncio.timeout(60):
            while engine.connections == before or not engine.connected:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert await user(engine) == wanted
    entry = await bucket.get("key")
    assert entry is not None
    assert entry.value == b"value"
    await engine.close()


async def test_others_are_not(operated: Operated) -> None:
    stranger = operated.user(Identity(nkeys.PREFIX_BYTE_ACCOUNT))
    with pytest.raises(
        EngineRefusedError, match=rf"let us in with .*{stranger.name}.*{operated.url}"
    ):
        await connect(operated.access(stranger), "web", "test")
    with pytest.raises(EngineRefusedError, match=rf"does not let us in \({operated.url}"):
        await connect(Access([operated.url]), "web", "test")


async def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    """The server is not even asked."""
    known, other = Identity(nkeys.PREFIX_BYTE_USER), Identity(nkeys.PREFIX_BYTE_USER)
    jwt = Identity(nkeys.PREFIX_BYTE_ACCOUNT).sign(known, "user")
    file = tmp_path / "user.creds"
    whole = write(file, jwt, known).read_text()
    begin = whole.index("-----BEGIN USER")
    bad = [
        (b"", "no user JWT"),
        (b"\xff\xfe", "cannot read"),
        (whole[:begin].encode(), "no user key"),
        (whole[begin:].encode(), "no user JWT"),
        (write(file, jwt, other).read_bytes(), "do not belong together"),
        (whole.replace(jwt, "a.b.c").encode(), "damaged"),
        (whole.replace(known.seed.decode(), "SUAAA").encode(), "damaged"),
    ]
    for content, told in bad:
        file.write_bytes(content)
        with pytest.raises(
            SettingsError, match=rf"cluster\.credentials.*user\.creds.*{told}|{told}.*user\.creds"
        ):
            await connect(Access(["nats://127.0.0.1:1"], credentials=file), "web", "test")
    for nothing in (tmp_path / "absent.creds", tmp_path):
        with pytest.raises(SettingsError, match=rf"cluster\.credentials: cannot read {nothing}"):
            await connect(Access(["nats://127.0.0.1:1"], credentials=nothing), "web", "test")
