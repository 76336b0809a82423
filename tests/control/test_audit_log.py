"""The audit log of one machine: noted before it is done, told at the next start if it was not."""

from pathlib import Path

import pytest

from gossamer.control.audit_log import AuditLog
from gossamer.control.service import UnreachableError


def files(directory: Path) -> dict[str, int]:
    """Names, and what others than the owner may do with each."""
    return {path.name: path.stat().st_mode & 0o077 for path in directory.iterdir()}


async def lines(audit: AuditLog) -> list[tuple[object, bool, str | None]]:
    return [(one.new, one.done, one.detail) for one in await audit.last(10)]


async def test_what_cannot_be_noted_is_not_done(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "gone" / "audit.jsonl")
    with pytest.raises(UnreachableError, match="nothing was done"):
        async with audit.change("me", "command", None, new="pause"):
            pytest.fail("it was done")


async def test_what_had_begun_is_told_by_the_next_process(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    audit = AuditLog(file)
    await audit.open()
    async with audit.change("me", "command", None, new="pause"):
        assert list(files(tmp_path).values()) == [0]
    assert files(tmp_path) == {"audit.jsonl": 0}
    # As a process leaves it that is killed in the middle of a change.
    change = audit.change("me", "command", None, new="stop")
    await change.__aenter__()
    audit = AuditLog(file)
    await audit.open()
    told = await lines(audit)
    assert told[0] == ("pause", True, None)
    assert told[1][:2] == ("stop", False)
    assert "begun" in str(told[1][2])
    assert files(tmp_path) == {"audit.jsonl": 0}
