"""The wire format: names of messages and fields that processes of one protocol version share.

Fields may be added, with a default; what stands here must not change within a version, or nodes of two
releases could not work together.
"""

import msgspec
import pytest

from gossamer.cluster.messages import (
    MESSAGES,
    PROTOCOL,
    Answer,
    Message,
    NodeStatus,
    decode,
    encode,
)

FIELDS = {
    "register": "node incarnation time address pid",
    "heartbeat": "node incarnation beat time address pid",
    "unregister": "node incarnation time keeps",
    "evicted": "node incarnation time reason",
    "crawl": "name created partitions settings change account",
    "resume": "since",
    "pause": "since",
    "shutdown": "since reason done",
    "roots": "urls",
    "leader": "control beat time url",
    "controls": "nodes",
    "leaving": "nodes",
    "held": "nodes",
    "duty": "since done",
    "status": (
        "node incarnation time started state progress map_epoch partitions outbox read_to stream roots "
        "settings snapshot_age lease_left host pid held disk_free cpu_seconds loop_seconds notes ahead"
    ),
    "paused": "node time",
    "resumed": "node time",
    "happened": "node time kind text host",
    "question": "name body who audited id",
    "answer": "error kind body",
}
ADDED = {("question", "id"), ("answer", "kind"), ("status", "ahead")}
"""Since version 3 began: these need a default."""


def tag(kind: type[Message]) -> str:
    found = kind.__struct_config__.tag
    assert isinstance(found, str)
    return found


def test_messages_are_named_as_ever() -> None:
    assert {tag(kind) for kind in MESSAGES} == set(FIELDS)


@pytest.mark.parametrize("kind", MESSAGES, ids=tag)
def test_fields_are_named_as_ever(kind: type[Message]) -> None:
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    assert set(FIELDS[tag(kind)].split()) | {"version"} == set(fields)
    for name in (name for of, name in ADDED if of == tag(kind)):
        assert not fields[name].required


def test_a_status_of_an_older_program_is_understood() -> None:
    old = (
        b'{"type":"status","version":3,"node":"a","incarnation":"x","time":1.0,"started":0.5,'
        b'"state":"running","progress":null,"map_epoch":3,"partitions":[[1,2]],"future":true}'
    )
    status = decode(old, NodeStatus)
    assert (status.node, status.partitions, status.notes) == ("a", [(1, 2)], [])
    assert b'"type":"status"' in encode(status)


def test_an_answer_says_its_version() -> None:
    assert msgspec.json.decode(encode(Answer()))["version"] == PROTOCOL
