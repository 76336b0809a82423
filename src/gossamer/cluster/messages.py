"""What nodes and the control node say to each other: typed, tagged, with the version of the protocol.

Every message names `version`. A reader refuses another version with an error that says whose
program is older; fields may be added within a version, because unknown ones are skipped.
Times are seconds since the epoch on the sender's clock, for people to read: nothing is decided by
comparing clocks of two machines.
"""

from typing import TypeVar

import msgspec

from gossamer.errors import VersionError
from gossamer.model.progress import Progress

PROTOCOL = 3
"""2: messages of links have scores, kinds and anchor texts, and snapshots another format. 3: messages of links have the
redirects that led to a seed, and snapshots the evidence by URL pattern."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=str.lower):
    version: int = PROTOCOL


# --- bucket `nodes`, a key per node: the last word of, or about, a node


class Register(Message, frozen=True, kw_only=True):
    """I am here. `incarnation` changes when a node's state was given up."""

    node: str
    incarnation: str
    time: float
    address: str = ""
    pid: int = 0


class Heartbeat(Message, frozen=True, kw_only=True):
    """I am still here. `beat` grows by one each time."""

    node: str
    incarnation: str
    beat: int
    time: float
    address: str = ""
    pid: int = 0


class Unregister(Message, frozen=True, kw_only=True):
    """I go, in order. `keeps`: my state stays on my disk and I mean to come back."""

    node: str
    incarnation: str
    time: float
    keeps: bool


class Evicted(Message, frozen=True, kw_only=True):
    """The control node's word: this node was taken out and cannot renew any longer."""

    node: str
    incarnation: str
    time: float
    reason: str


# --- bucket `crawl`


class Crawl(Message, frozen=True, kw_only=True):
    """Key `crawl`: what all nodes must know. `settings` is the JSON text of the settings."""

    name: str
    created: float
    partitions: int
    settings: str
    change: int = 0
    """Grows with each change of the settings."""
    account: str = ""
    """JSON of the last change: who, when, which values. In one record with it, so that none is lost;
    earlier ones are under the keys `change.N`."""


class Resume(Message, frozen=True, kw_only=True):
    """Key `wanted`: crawl."""

    since: float = 0.0


class Pause(Message, frozen=True, kw_only=True):
    """Key `wanted`: begin no visits."""

    since: float = 0.0


class Shutdown(Message, frozen=True, kw_only=True):
    """Key `wanted`: save and end. Also sent to a single node that was removed."""

    since: float = 0.0
    reason: str = ""
    done: bool = False
    """The crawl is finished."""


class Roots(Message, frozen=True, kw_only=True):
    """Keys `roots.N`: seeds that define the scope."""

    urls: list[str]


class Duty(Message, frozen=True, kw_only=True):
    """Key `resend`: links since a time must be sent again; by whom that was done."""

    since: float | None = None
    done: list[str] = []


class Leaving(Message, frozen=True, kw_only=True):
    """Key `leaving`: nodes that were removed by command and hand everything over."""

    nodes: list[str]


class Held(Message, frozen=True, kw_only=True):
    """Key `held`: nodes that begin no visits, whatever the others do, until they are let go."""

    nodes: list[str]


class Leader(Message, frozen=True, kw_only=True):
    """Key `leader`: the control node that leads."""

    control: str
    beat: int
    time: float
    url: str = ""


CONTROLS = "controls"


class Presence(msgspec.Struct, frozen=True, kw_only=True):
    """A control node's line about itself."""

    started: float
    beat: int
    time: float
    url: str = ""
    program: str = ""
    beside: bool = False
    """Another one lived beside it, and nobody has taken its place since."""


class Controls(Message, frozen=True, kw_only=True):
    """Key `controls`: the control nodes that there are, by name."""

    nodes: dict[str, Presence]


# --- subjects


class NodeStatus(Message, frozen=True, kw_only=True, tag="status"):
    """A node's reading of itself, twice a second."""

    node: str
    incarnation: str
    time: float
    started: float
    state: str
    """joining, running, paused, leaving, fenced"""
    progress: Progress | None
    map_epoch: int
    """The newest map that this node has carried out."""
    partitions: list[tuple[int, int]]
    """(partition, epoch) held."""
    outbox: int = 0
    read_to: int = 0
    """All of the stream up to here that concerns this node is safe in its store."""
    stream: int = 0
    ahead: bool = False
    """This node has read more than the stream holds: the stream lost what it had acknowledged."""
    roots: int = 0
    """Parts of the roots that this node knows."""
    settings: int = 0
    """Change of the settings that this node works with."""
    snapshot_age: float | None = None
    lease_left: float = 0.0
    host: str = ""
    pid: int = 0
    held: bool = False
    """Held back alone, by command."""
    disk_free: int | None = None
    cpu_seconds: float = 0.0
    """CPU of the node's process."""
    loop_seconds: float = 0.0
    """Of that, the event loop's: all that goes over the engine's line."""
    notes: list[str] = []


class Paused(Message, frozen=True, kw_only=True):
    """Event: no visit is under way any more."""

    node: str
    time: float


class Resumed(Message, frozen=True, kw_only=True):
    """Event: visits begin again."""

    node: str
    time: float


class Happened(Message, frozen=True, kw_only=True):
    """Event: anything else worth telling an operator."""

    node: str
    time: float
    kind: str
    text: str
    host: str | None = None


class Question(Message, frozen=True, kw_only=True):
    """To one node or to the leading control node. A closed list of names; see `answers`."""

    name: str
    body: msgspec.Raw = msgspec.Raw(b"null")
    who: str = ""
    """Who gave the command, for the audit log: user and machine."""
    audited: bool = False
    """The asker keeps the account of it."""
    id: str = ""
    """The same when a question is asked again, so that it is carried out once; empty: once only."""


class Answer(Message, frozen=True, kw_only=True):
    """`error` is empty, or says why there is no answer."""

    error: str = ""
    kind: str = ""
    """What kind of error it is, by its name in `cluster.requests`."""
    body: msgspec.Raw = msgspec.Raw(b"null")


NodeRecord = Register | Heartbeat | Unregister | Evicted
Wanted = Resume | Pause | Shutdown
Event = Paused | Resumed | Happened

MESSAGES: tuple[type[Message], ...] = (
    Register, Heartbeat, Unregister, Evicted, Crawl, Resume, Pause, Shutdown, Roots, Leader, Controls, Leaving, Held,
    Duty, NodeStatus, Paused, Resumed, Happened, Question, Answer,
)  # fmt: skip

T = TypeVar("T")


class _Envelope(msgspec.Struct):
    version: int = 0


_encode = msgspec.json.Encoder().encode


def encode(message: Message) -> bytes:
    return _encode(message)


def decode(data: bytes, kind: type[T], who: str = "the other side") -> T:
    """The message, or a `VersionError` that says who must be brought up to date."""
    try:
        envelope = msgspec.json.decode(data, type=_Envelope)
    except msgspec.MsgspecError as error:
        raise VersionError(f"{who} speaks no protocol of Gossamer: {error}") from error
    if envelope.version != PROTOCOL:
        older = "older" if envelope.version < PROTOCOL else "newer"
        raise VersionError(
            f"{who} speaks version {envelope.version} of the cluster's protocol, this program "
            f"version {PROTOCOL}: it is {older}; run the same Gossamer everywhere"
        )
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise VersionError(f"{who} sent a message that is not understood: {error}") from error


def decode_node_record(data: bytes, node: str) -> NodeRecord:
    return decode(data, NodeRecord, f"node {node}")  # type: ignore[arg-type]


def decode_wanted(data: bytes) -> Wanted:
    return decode(data, Wanted, "the control node")  # type: ignore[arg-type]


def decode_event(data: bytes) -> Event:
    return decode(data, Event, "a node")  # type: ignore[arg-type]
