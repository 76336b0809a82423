"""Commands to the whole crawl: a closed list. No command runs code."""

from enum import StrEnum

from pydantic import Field

from gossamer.control.schemas.base import RequestSchema, Schema


class Command(StrEnum):
    """`pause`: no new visit on any node within a second. `stop`: save everything and end.

    `checkpoint`: everything done so far is durable when it is confirmed. `rerank`: what is
    queued is put in the order of `frontier.order`; each node confirms that it has begun, and the
    status tells how far they are.
    """

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    CHECKPOINT = "checkpoint"
    RERANK = "rerank"
    ADD_NODE = "add_node"


class CommandInfo(Schema):
    command: Command
    available: bool
    reason: str | None = Field(description="why it is not available now")


class CommandRequest(RequestSchema):
    command: Command


class Confirmation(Schema):
    node: str
    confirmed: bool
    seconds: float | None = Field(description="how long it took; null: not confirmed")
    note: str = ""


class CommandResult(Schema):
    command: Command
    time: float
    confirmed: bool = Field(description="by every node")
    nodes: list[Confirmation]
