"""Every route and every method, without a token, with a wrong one, with one to read, from elsewhere."""

import json
import re

import pytest
from tests.control.serving import Served

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]
SHELL = ["/", "/static/app.js", "/favicon.ico"]
UNKNOWN = ["/api/v1/no-such-route", "/api/v2/status", "/docs", "/openapi.json", "/..%2f", "//"]


def routes(served: Served) -> dict[str, set[str]]:
    """Every path of the description, with its methods; names filled in."""
    described = served.get("/openapi.json")["paths"]
    found = {
        re.sub(r"\{command\}", "pause", re.sub(r"\{[a-z]+\}", "1", path)): {m.upper() for m in how}
        for path, how in described.items()
    }
    return found | {"/api/v1/openapi.json": {"GET"}}


def test_the_walk_covers_the_api(quiet: Served):
    paths = routes(quiet)
    assert len(paths) >= 20
    assert {"/metrics", "/healthz", "/readyz", "/api/v1/stream"} <= set(paths)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_told_without_a_token(quiet: Served, method: str):
    for path in [*routes(quiet), *UNKNOWN]:
        answer = quiet.ask(method, path, token=None)
        assert answer.status == 401, (method, path, answer)
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("method", METHODS)
def test_a_wrong_token_is_refused(quiet: Served, method: str):
    for path in [*routes(quiet), *UNKNOWN]:
        for headers in ({"Authorization": "Bearer " + "x" * 43}, {"Authorization": "Basic eDp5"}):
            answer = quiet.ask(method, path, token=None, headers=headers)
            assert answer.status in {401, 429}, (method, path, answer)


@pytest.mark.parametrize("method", METHODS)
def test_a_token_to_read_changes_nothing(quiet: Served, method: str):
    before = quiet.get("/settings")["version"], quiet.get("/status")["wanted"]
    for path in [*routes(quiet), *UNKNOWN]:
        if method in {"GET", "HEAD"}:
            continue
        answer = quiet.ask(method, path, {}, token=quiet.token("token-read"))
        assert answer.status == 403, (method, path, answer)
        assert answer.json["code"] == "read_only"
    assert (quiet.get("/settings")["version"], quiet.get("/status")["wanted"]) == before


def test_a_token_to_read_reads(quiet: Served):
    for path, methods in routes(quiet).items():
        if "GET" in methods and path != "/api/v1/stream":
            answer = quiet.ask("GET", path, token=quiet.token("token-read"))
            assert answer.status in {200, 404, 422}, (path, answer)
    access = quiet.ask("GET", "/api/v1/access", token=quiet.token("token-read")).json
    assert access["role"] == "read"
    assert quiet.get("/access")["role"] == "operate"


FOREIGN = [
    {"Host": "evil.example"},
    {"Host": "127.0.0.1"},
    {"Host": "127.0.0.1.evil.example:8780"},
    {"Host": ""},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "https://localhost"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=json.dumps)
def test_pages_of_other_sites_are_refused_with_a_good_token_too(
    quiet: Served, headers: dict[str, str]
):
    for path in [*routes(quiet), *UNKNOWN, *SHELL]:
        for method in METHODS:
            answer = quiet.ask(method, path, headers=headers)
            # The server itself refuses a request without any host.
            assert answer.status in {400, 403}, (method, path, answer)


def test_our_own_pages_may_ask(quiet: Served):
    port = quiet.authority.rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
        headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        assert quiet.ask("GET", "/api/v1/status", headers=headers).status == 200


def test_two_hosts_or_two_tokens_are_refused(quiet: Served):
    import socket

    host, _, port = quiet.authority.rpartition(":")
    for extra in ("Host: evil.example", f"Authorization: Bearer {quiet.token()}"):
        with socket.create_connection((host, int(port)), timeout=10) as raw:
            raw.sendall(
                f"GET /api/v1/status HTTP/1.1\r\nHost: {quiet.authority}\r\n{extra}\r\n"
                f"Authorization: Bearer {quiet.token()}\r\nConnection: close\r\n\r\n".encode()
            )
            status = int(raw.recv(4096).split()[1])
        assert status in {400, 401, 403, 429}


def test_every_answer_has_the_headers_of_safety(quiet: Served):
    asked = [
        quiet.ask("GET", "/api/v1/status"),
        quiet.ask("GET", "/api/v1/status", token=None),
        quiet.ask("GET", "/api/v1/nothing"),
        quiet.ask("GET", "/", headers={"Host": "evil.example"}),
        quiet.ask("GET", "/static/nothing.js", token=None),
    ]
    for answer in asked:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in answer.headers
        assert "server" not in answer.headers
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_shell_can_only_be_read(quiet: Served):
    for path in SHELL:
        for method in set(METHODS) - {"GET", "HEAD"}:
            assert quiet.ask(method, path).status == 405
        assert quiet.ask("GET", path, token=None).status in {200, 404}
    assert quiet.ask("GET", "/static/../control/token", token=None).status in {400, 401, 404}


def test_large_requests_are_refused(quiet: Served):
    answer = quiet.ask("POST", "/api/v1/seeds", {"urls": ["http://x/" + "y" * 3_000_000]})
    assert answer.status == 413


def test_tokens_are_only_their_owners(quiet: Served):
    assert quiet.control.stat().st_mode & 0o777 == 0o700
    for name in ("token", "token-read", "audit.jsonl", "settings.jsonl", "seeds.jsonl"):
        file = quiet.control / name
        assert not file.exists() or file.stat().st_mode & 0o777 == 0o600, name
    assert quiet.token() != quiet.token("token-read")
    assert len(quiet.token()) >= 43
    said = quiet.log("stderr").read_text()
    assert quiet.token() not in said
