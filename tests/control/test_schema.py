"""Requests generated from the OpenAPI description: none may make the server fail."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.control.serving import Served

from gossamer.control.api.app import describe, make_app
from gossamer.control.api.audit import AuditLog
from gossamer.control.service import Service
from gossamer.control.tokens import Tokens

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)


def description() -> dict[str, Any]:
    """As the API describes itself, made without a server so that tests can be named after it."""
    nobody = cast("Service", None)
    audit = AuditLog(Path("unused"))
    app = make_app(nobody, tokens=Tokens({}), audit=audit, authorities=[], origins=[])
    return describe(app)


schema = schemathesis.openapi.from_dict(description())


def test_the_description_is_the_one_that_is_served(quiet: Served):
    assert quiet.get("/openapi.json") == json.loads(json.dumps(description()))


@pytest.mark.timeout(600)
@schema.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_no_request_makes_the_server_fail(case, quiet: Served):
    if case.path == "/api/v1/stream":
        # It does not end by itself; it has its own tests.
        return
    body = case.body if isinstance(case.body, dict) else {}
    if body.get("command") == "stop":
        # Would end the crawl under test.
        return
    headers = {"Authorization": f"Bearer {quiet.token()}"}
    response = case.call(base_url=quiet.url, headers=headers, timeout=30)
    sent = response.request.headers.get("Authorization")
    # Some requests leave the token out, or replace it, on purpose.
    good = sent == headers["Authorization"]
    assert (response.status_code in {401, 429}) != good, (response.status_code, sent)
    case.validate_response(response, checks=CHECKS)
