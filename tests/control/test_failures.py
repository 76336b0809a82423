"""Wrong tokens are counted; a good one always passes."""

import time

from tests.control.serving import Served

from gossamer.control.api.guard import FAILURES, FORGIVEN_EVERY


def test_many_wrong_tokens_are_told_to_wait(quiet: Served):
    begun = time.monotonic()
    wrong = 0
    while (refused := quiet.ask("GET", "/api/v1/status", token="wrong" * 8)).status == 401:
        wrong += 1
        # One more is allowed every few seconds.
        assert wrong <= FAILURES + (time.monotonic() - begun) / FORGIVEN_EVERY
    assert refused.status == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 7
    # A forgotten tab with an old token does not lock its owner out.
    assert quiet.ask("GET", "/api/v1/status").status == 200
    # No token at all is no guess.
    assert quiet.ask("GET", "/api/v1/status", token=None).status == 401
