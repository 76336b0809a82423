"""Times as people read them: UTC, to the second."""

from datetime import UTC, datetime


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
