"""The engine: NATS JetStream, which carries what crosses machines. The only folder that imports NATS.

It is transport, not the record. Everything kept in it can be made again from elsewhere: the map from
the control node's copy, the links from the nodes that sent them, partitions from their snapshots. So
nothing here tries to be cleverer than the engine: an error says that it did not work, and the caller
tries again with what it still has.

`ports` says what the rest of the program may use, `jetstream` does it with NATS, `memory` within one
process, for tests. `names` lists every bucket, stream and subject. `server` runs NATS on this machine.
"""

from gossamer.engine.jetstream.access import Access
from gossamer.engine.jetstream.opening import connect
from gossamer.engine.names import Names
from gossamer.engine.ports import (
    Bucket,
    Engine,
    Entry,
    LinkReader,
    LinkStream,
    Message,
    RecordStream,
    StreamState,
)
from gossamer.engine.server import Server

__all__ = [
    "Access",
    "Bucket",
    "Engine",
    "Entry",
    "LinkReader",
    "LinkStream",
    "Message",
    "Names",
    "RecordStream",
    "Server",
    "StreamState",
    "connect",
]
