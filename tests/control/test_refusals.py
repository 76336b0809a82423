"""Every route and every method, without a token, with a wrong one, with one to read, from elsewhere."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

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


def test_the_walk_covers_the_api(asked: Served):
    paths = routes(asked)
    assert len(paths) >= 20
    assert {"/metrics", "/healthz", "/readyz", "/api/v1/stream"} <= set(paths)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_told_without_a_token(asked: Served, method: str):
    for path in [*routes(asked), *UNKNOWN]:
        answer = asked.ask(method, path, token=None)
        assert answer.status == 401, (method, path, answer)
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("method", METHODS)
def test_a_wrong_token_is_refused(asked: Served, method: str):
    for path in [*routes(asked), *UNKNOWN]:
        for headers in ({"Authorization": "Bearer " + "x" * 43}, {"Authorization": "Basic eDp5"}):
            answer = asked.ask(method, path, token=None, headers=headers)
            assert answer.status in {401, 429}, (method, path, answer)


@pytest.mark.parametrize("method", METHODS)
def test_a_token_to_read_changes_nothing(asked: Served, method: str):
    before = asked.get("/settings")["version"], asked.get("/status")["wanted"]
    for path in [*routes(asked), *UNKNOWN]:
        if method in {"GET", "HEAD"}:
            continue
        answer = asked.ask(method, path, {}, token=asked.token("token-read"))
        assert answer.status == 403, (method, path, answer)
        assert answer.json["code"] == "read_only"
    assert (asked.get("/settings")["version"], asked.get("/status")["wanted"]) == before


def test_a_token_to_read_reads(asked: Served):
    for path, methods in routes(asked).items():
        if "GET" in methods and path != "/api/v1/stream":
            answer = asked.ask("GET", path, token=asked.token("token-read"))
            assert answer.status in {200, 404, 422}, (path, answer)
    access = asked.ask("GET", "/api/v1/access", token=asked.token("token-read")).json
    assert access["role"] == "read"
    assert asked.get("/access")["role"] == "operate"


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
    asked: Served, headers: dict[str, str]
):
    for path in [*routes(asked), *UNKNOWN, *SHELL]:
        for method in METHODS:
            answer = asked.ask(method, path, headers=headers)
            # The server itself refuses a request without any host.
            assert answer.status in {400, 403}, (method, path, answer)


def test_our_own_pages_may_ask(asked: Served):
    port = asked.authority.rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
        headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        assert asked.ask("GET", "/api/v1/status", headers=headers).status == 200


def test_two_hosts_or_two_tokens_are_refused(asked: Served):
    import socket

    host, _, port = asked.authority.rpartition(":")
    for extra in ("Host: evil.example", f"Authorization: Bearer {asked.token()}"):
        with socket.create_connection((host, int(port)), timeout=60) as raw:
            raw.sendall(
                f"GET /api/v1/status HTTP/1.1\r\nHost: {asked.authority}\r\n{extra}\r\n"
                f"Authorization: Bearer {asked.token()}\r\nConnection: close\r\n\r\n".encode()
            )
            status = int(raw.recv(4096).split()[1])
        assert status in {400, 401, 403, 429}


def test_every_answer_has_the_headers_of_safety(asked: Served):
    answers = [
        asked.ask("GET", "/api/v1/status"),
        asked.ask("GET", "/api/v1/status", token=None),
        asked.ask("GET", "/api/v1/nothing"),
        asked.ask("GET", "/", headers={"Host": "evil.example"}),
        asked.ask("GET", "/static/nothing.js", token=None),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in answer.headers
        assert "server" not in answer.headers
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_shell_can_only_be_read(asked: Served):
    for path in SHELL:
        for method in set(METHODS) - {"GET", "HEAD"}:
            assert asked.ask(method, path).status == 405
        assert asked.ask("GET", path, token=None).status in {200, 404}
    assert asked.ask("GET", "/static/../control/token", token=None).status in {400, 401, 404}


def test_large_requests_are_refused(asked: Served):
    answer = asked.ask("POST", "/api/v1/seeds", {"urls": ["http://x/" + "y" * 3_000_000]})
    assert answer.status == 413


def test_tokens_are_only_their_owners(asked: Served):
    assert asked.control.stat().st_mode & 0o777 == 0o700
    for name in ("token", "token-read", "audit.jsonl", "settings.jsonl", "seeds.jsonl"):
        file = asked.control / name
        assert not file.exists() or file.stat().st_mode & 0o777 == 0o600, name
    assert asked.token() != asked.token("token-read")
    assert len(asked.token()) >= 43
    said = [asked.log("stderr"), *asked.out.glob("*.messages")]
    assert not [file for file in said if file.exists() and asked.token() in file.read_text()]
    assert any(file.exists() for file in said)


def test_half_a_character_is_refused(asked: Served):
    for value in ("\ud800", ["\udfff"], {"\ud800": 1}):
        answer = asked.ask("PATCH", "/api/v1/settings", {"values": {"limits.depth": value}})
        assert answer.status == 422, answer
        assert answer.json["code"] == "wrong_value"
        answer = asked.ask("POST", "/api/v1/seeds", {"urls": [value]})
        assert answer.status == 422, answer


def test_submissions_at_the_same_time_are_all_taken(asked: Served):
    seeds = [f"{asked.get_seed()}?at-once={number}" for number in range(24)]

    def submit(seed: str) -> int:
        return asked.ask("POST", "/api/v1/seeds", {"urls": [seed]}).status

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(submit, seeds)) == {200}
    told = asked.get("/seeds", limit=24)["submissions"]
    assert {seed["url"] for one in told for seed in one["seeds"] if seed["taken"]} == set(seeds)
    assert len({one["id"] for one in told}) == 24
