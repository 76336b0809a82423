"""The engine: NATS JetStream, which carries what crosses machines. The only folder that imports NATS.

It is transport, not the record. Everything kept in it can be made again from elsewhere: the map from
the control node's copy, the links from the nodes that sent them, partitions from their snapshots. So
nothing here tries to be cleverer than the engine: an error says that it did not work, and the caller
tries again with what it still has.

`names` lists every bucket, stream and subject. `server` runs an engine on this machine. `connection`
is one process's line to it, `bucket` a key-value bucket with compare-and-set, `links` the stream of
links between partitions, `records` a stream of what happened.
"""

from gossamer.engine.bucket import Bucket, Entry
from gossamer.engine.connection import Access, Engine, connect
from gossamer.engine.links import LinkReader, LinkStream, StreamState
from gossamer.engine.names import Names
from gossamer.engine.records import RecordStream
from gossamer.engine.server import Server

__all__ = [
    "Access",
    "Bucket",
    "Engine",
    "Entry",
    "LinkReader",
    "LinkStream",
    "Names",
    "RecordStream",
    "Server",
    "StreamState",
    "connect",
]
