"""Where a dashboard is served: what a command is told of `[control]`."""

from typing import Any

from gossamer.errors import SettingsError
from gossamer.settings import load
from gossamer.settings.assignments import assignments
from gossamer.settings.model import ControlSettings


def control_settings(
    known: ControlSettings, texts: list[str], *, port: int | None, address: str | None, whose: str
) -> ControlSettings:
    """`known`, with `texts` (of `--set`) on top of it, and with `--port` and `--address` on top of these."""
    given: dict[str, Any] = assignments(texts)
    for name in given:
        if not name.startswith("control."):
            raise SettingsError(
                f"{name} is none of {whose}; crawls have it", do="give settings of control only"
            )
    named = {"control.port": port, "control.address": address}
    given |= {name: value for name, value in named.items() if value is not None}
    values = known.model_dump(mode="json", exclude_none=True)
    return load(None, {f"control.{name}": value for name, value in values.items()} | given).control
