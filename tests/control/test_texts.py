"""Texts and numbers that JSON can spell and nothing can hold are refused, not fallen over."""

import http.client

import pytest
from tests.control.serving import Served

BODIES = [
    ("PATCH", "/settings", r'{"values": {"scope.exclude": ["a\ud800b"]}}'),
    ("PATCH", "/settings", r'{"values": {"fetch.headers": {"a\ud800b": "x"}}}'),
    ("PATCH", "/settings", r'{"values": {"a\ud800b": 1}}'),
    ("PATCH", "/settings", r'{"values": {"politeness.delay": "a\ud800b"}}'),
    ("PATCH", "/settings", '{"values": {"politeness.response_factor": NaN}}'),
    ("PATCH", "/settings", '{"values": {"limits.pages": 1e999}}'),
    ("PATCH", "/settings", r'{"a\ud800b": 1}'),
    ("PATCH", "/settings", r'"a\ud800b"'),
    ("POST", "/seeds", r'{"urls": ["http://a\ud800b/"]}'),
    ("POST", "/commands", r'{"command": "a\ud800b"}'),
    ("POST", "/hosts/a", r'{"action": "a\ud800b"}'),
    ("POST", "/hosts/a", '{"action": "slow_down", "seconds": NaN}'),
]


@pytest.mark.parametrize(("method", "path", "body"), BODIES)
def test_what_cannot_be_written_is_refused(quiet: Served, method: str, path: str, body: str):
    version = quiet.get("/settings")["version"]
    connection = http.client.HTTPConnection(quiet.authority, timeout=20)
    headers = {"Authorization": f"Bearer {quiet.token()}", "Content-Type": "application/json"}
    try:
        connection.request(method, f"/api/v1{path}", body, headers)
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    assert (answer.status, b"wrong_value" in text) == (422, True), text
    assert quiet.get("/settings")["version"] == version


def test_whole_characters_are_taken(quiet: Served):
    # A pair of halves is one character.
    quiet.set(scope__exclude=["ü€\U0001f600"])
    names = {row["name"]: row["value"] for row in quiet.get("/settings")["settings"]}
    assert names["scope.exclude"] == ["ü€\U0001f600"]
