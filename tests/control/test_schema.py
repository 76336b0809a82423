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
from gossamer.control.audit_log import AuditLog
from gossamer.control.service import Service
from gossamer.control.tokens import Tokens

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def description() -> dict[str, Any]:
    """As the API describes itself, made without a server so that tests can be named after it."""
    nobody = cast("Service", None)
    audit = AuditLog(Path("unused"))
    app = make_app(nobody, tokens=Tokens({}), audit=audit, authorities=[], origins=[])
    return describe(app)


schema = schemathesis.openapi.from_dict(description())


def test_the_description_is_the_one_that_is_served(quiet: Served):
    assert quiet.get("/openapi.json") == json.loads(json.dumps(description()))


def ask(case: schemathesis.Case, served: Served) -> None:
    """Sends a request and judges the answer."""
    if case.path == "/api/v1/stream":
        # It does not end by itself; it has its own tests.
        return
    body = case.body if isinstance(case.body, dict) else {}
    if body.get("command") == "stop":
        # Would end the crawl under test.
        return
    headers = {"Authorization": f"Bearer {served.token()}"}
    response = case.call(base_url=served.url, headers=headers, timeout=30)
    sent = response.request.headers.get("Authorization")
    # Some requests leave the token out, or replace it, on purpose.
    good = sent == headers["Authorization"]
    assert (response.status_code in {401, 429}) != good, (response.status_code, sent)
    case.validate_response(response, checks=CHECKS)


def examples(number: int) -> settings:
    checks = list(HealthCheck)
    return settings(
        max_examples=number, deadline=None, suppress_health_check=checks, derandomize=True
    )


@pytest.mark.timeout(600)
@schema.parametrize()
@examples(25)
def test_no_request_makes_the_server_fail(case, quiet: Served):
    ask(case, quiet)


@pytest.mark.timeout(600)
@schema.parametrize()
@examples(15)
def test_no_request_makes_a_control_node_fail(case, quiet_cluster: Served):
    ask(case, quiet_cluster)
