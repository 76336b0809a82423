"""SettingHistory of settings: checked as a whole, versioned, with who and when, and undone on demand.

Holds what a service needs whichever crawl it is for: the table for people, and the journal
`settings.jsonl`. Applying a change and keeping the settings themselves is the service's part.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gossamer.control.journal import Journal
from gossamer.control.schemas import (
    Change,
    ChangedValue,
    ChangeSettings,
    SettingKind,
    SettingsView,
    SettingView,
)
from gossamer.control.service import NotKnownError, RefusedError, WrongValueError
from gossamer.errors import SettingsError
from gossamer.settings import CrawlSettings
from gossamer.settings.rows import rows
from gossamer.settings.table import changed, shown, values


class SettingHistory:
    """The versions of one crawl's settings."""

    def __init__(self, file: Path) -> None:
        self._journal = Journal(file, Change, lambda change: change.version)
        self._changed_in: dict[str, int] = {}

    def open(self) -> None:
        self._journal.open()
        for change in self._journal.all():
            self._note(change)

    @property
    def version(self) -> int:
        return self._journal.last

    def changed_in(self, name: str) -> int | None:
        """The version of a setting's last change; None: it was never changed."""
        return self._changed_in.get(name)

    def view(self, settings: CrawlSettings) -> SettingsView:
        now, default = shown(settings), values(CrawlSettings())
        return SettingsView(
            version=self.version,
            settings=[
                SettingView(
                    name=row.name,
                    stage=row.stage,
                    meaning=row.meaning,
                    kind=SettingKind(row.kind),
                    unit=row.unit,
                    minimum=row.minimum,
                    maximum=row.maximum,
                    choices=row.choices,
                    optional=row.optional,
                    live=row.live,
                    value=now[row.name],
                    default=default[row.name],
                    changed_in=self.changed_in(row.name),
                )
                for row in rows()
            ],
        )

    def plan(
        self, settings: CrawlSettings, asked: ChangeSettings, who: str, *, undoes: int | None = None
    ) -> tuple[CrawlSettings, Change]:
        """The new settings and the change, not made yet."""
        if asked.expected_version not in {None, self.version}:
            raise RefusedError(
                "other_version",
                f"the settings are at version {self.version} by now; look again, then change",
            )
        try:
            return planned(settings, asked.values, self.version + 1, who, undoes=undoes)
        except SettingsError as error:
            raise WrongValueError("wrong_setting", str(error)) from error

    def undoing(self, version: int) -> ChangeSettings:
        """The values before a version, to be set again."""
        change = self._journal.get(version)
        if change is None:
            raise NotKnownError("no_such_version", f"there is no version {version} of the settings")
        for value in change.values:
            later = self._changed_in.get(value.name, version)
            if later > version:
                raise RefusedError(
                    "changed_since",
                    f"{value.name} was changed again in version {later}; undo that first",
                )
        if not change.values:
            raise RefusedError("nothing_known", f"nobody knows what version {version} changed")
        return ChangeSettings(values={value.name: value.old for value in change.values})

    def keep(self, change: Change) -> None:
        """The change was made."""
        self._journal.append(change)
        self._note(change)

    def last(self, before: int | None, limit: int) -> list[Change]:
        return self._journal.before(before, limit)

    def _note(self, change: Change) -> None:
        for value in change.values:
            self._changed_in[value.name] = change.version


def planned(
    settings: CrawlSettings,
    new: Mapping[str, Any],
    version: int,
    who: str,
    *,
    undoes: int | None = None,
) -> tuple[CrawlSettings, Change]:
    """The settings with some live ones changed, and the account of it. `SettingsError`: they cannot be."""
    after = changed(settings, dict(new))
    before, now = values(settings), values(after)
    return after, Change(
        version=version,
        time=round(time.time(), 3),
        who=who,
        undoes=undoes,
        values=[ChangedValue(name=name, old=before[name], new=now[name]) for name in new],
    )


def override(settings: CrawlSettings, host: str, gap: float | None) -> dict[str, Any]:
    """The value of politeness.overrides with another gap for one host, or with none."""
    overrides: dict[str, Any] = dict(values(settings)["politeness.overrides"])
    overrides.pop(host, None)
    if gap is not None:
        overrides[host] = f"{gap:.6f}".rstrip("0").rstrip(".") + "s"
    return {"politeness.overrides": overrides}
