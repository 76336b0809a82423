"""Runs of their own, minutes to an hour long: the URLs known at 10 and at 100 million."""

from typing import Any

from benches import seen


def run_large() -> list[dict[str, Any]]:
    return [*seen.run_large(10_000_000), *seen.run_large(100_000_000)]
