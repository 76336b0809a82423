"""What the control API takes and gives. Times are seconds since the epoch, sizes are bytes.

Absent is `null`: not known, or does not apply; each field says which. Version 1: fields may be
added, none is renamed or removed.
"""

from gossamer.control.schemas.commands import (
    Command,
    CommandInfo,
    CommandRequest,
    CommandResult,
    Confirmation,
)
from gossamer.control.schemas.events import (
    Alert,
    AuditEntry,
    Event,
    EventKind,
    EventPage,
    History,
    Severity,
)
from gossamer.control.schemas.hosts import (
    HostAction,
    HostCommand,
    HostPage,
    HostQuery,
    HostRow,
    HostSort,
    RobotsView,
)
from gossamer.control.schemas.nodes import (
    NodeCommand,
    NodeState,
    NodeView,
    PartitionMap,
    PartitionView,
)
from gossamer.control.schemas.patterns import (
    DoubtedPattern,
    LearntParameter,
    PatternPage,
    PatternQuery,
    TakenUp,
    TakeUp,
)
from gossamer.control.schemas.seeds import (
    SeedFate,
    SeedResult,
    SeedSubmission,
    SubmissionFates,
    SubmissionPage,
    SubmitSeeds,
)
from gossamer.control.schemas.settings import (
    Change,
    ChangedValue,
    ChangeSettings,
    SettingKind,
    SettingsView,
    SettingView,
)
from gossamer.control.schemas.status import (
    Access,
    ControlNodeView,
    ControlState,
    OutcomeView,
    Problem,
    Role,
    Status,
)
from gossamer.control.schemas.urls import (
    AliasView,
    LastVisit,
    QueuePlace,
    RobotsRule,
    RobotsVerdict,
    UrlAccount,
    VisitLine,
)

__all__ = [
    "Access",
    "Alert",
    "AliasView",
    "AuditEntry",
    "Change",
    "ChangeSettings",
    "ChangedValue",
    "Command",
    "CommandInfo",
    "CommandRequest",
    "CommandResult",
    "Confirmation",
    "ControlNodeView",
    "ControlState",
    "DoubtedPattern",
    "Event",
    "EventKind",
    "EventPage",
    "History",
    "HostAction",
    "HostCommand",
    "HostPage",
    "HostQuery",
    "HostRow",
    "HostSort",
    "LastVisit",
    "LearntParameter",
    "NodeCommand",
    "NodeState",
    "NodeView",
    "OutcomeView",
    "PartitionMap",
    "PartitionView",
    "PatternPage",
    "PatternQuery",
    "Problem",
    "QueuePlace",
    "RobotsRule",
    "RobotsVerdict",
    "RobotsView",
    "Role",
    "SeedFate",
    "SeedResult",
    "SeedSubmission",
    "SettingKind",
    "SettingView",
    "SettingsView",
    "Severity",
    "Status",
    "SubmissionFates",
    "SubmissionPage",
    "SubmitSeeds",
    "TakeUp",
    "TakenUp",
    "UrlAccount",
    "VisitLine",
]
