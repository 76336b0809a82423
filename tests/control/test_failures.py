"""Wrong tokens are counted; a good one always passes."""

from tests.control.serving import Served


def test_many_wrong_tokens_are_told_to_wait(quiet: Served):
    statuses = [quiet.ask("GET", "/api/v1/status", token="wrong" * 8).status for _ in range(15)]
    assert statuses[-1] == 429
    assert set(statuses) <= {401, 429}
    refused = quiet.ask("GET", "/api/v1/status", token="w" * 40)
    assert 1 <= int(refused.headers["retry-after"]) <= 7
    # A forgotten tab with an old token does not lock its owner out.
    assert quiet.ask("GET", "/api/v1/status").status == 200
    # No token at all is no guess.
    assert quiet.ask("GET", "/api/v1/status", token=None).status == 401
