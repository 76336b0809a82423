"""The list of outcomes is told by the API: nobody has to copy it."""

from tests.control.serving import Served

from gossamer.policy.hosts.outcomes import REACTIONS

FAILED = {
    "server_failed", "throttled", "dns_not_found", "dns_failed", "connect_failed", "tls_failed",
    "timed_out", "disconnected", "protocol_broken", "encoding_broken", "robots_unreachable",
    "internal_error",
}  # fmt: skip


def test_each_outcome_is_told_with_its_meaning_and_group(quiet: Served):
    told = {row["name"]: row for row in quiet.get("/outcomes")}
    assert {name: row["meaning"] for name, row in told.items()} == {
        name: policy.meaning for name, policy in REACTIONS.items()
    }
    done = {name for name, row in told.items() if row["group"] == "done"}
    assert done == {"fetched", "not_modified", "redirected", "duplicate", "truncated"}
    assert {name for name, row in told.items() if row["group"] == "failed"} == FAILED
