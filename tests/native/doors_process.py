"""A crawl with a policy at every door, as a process that can be killed: DIR URL."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.native.doors import Crawl

from gossamer._native import Batch

DOORS = {
    "pages": {"columns": ["url", "text"], "rows": 16},
    "order": {"columns": ["url", "anchor"], "rows": 64},
    "refresh": {"columns": ["url", "visits"], "rows": 16},
    "hosts": {"columns": ["host", "pattern", "fetched", "in_domains"], "wait": 50_000},
}


def pages(batch: Batch) -> dict[str, list[Any]]:
    time.sleep(0.005)
    fields = [json.dumps({"length": len(text or "")}) for text in batch.column("text")]
    return {"fields": fields, "score": [0.5] * len(batch)}


def order(batch: Batch) -> dict[str, list[Any]]:
    time.sleep(0.002)
    return {"score": [len(url) % 64 / 64 for url in batch.column("url")]}


def refresh(batch: Batch) -> dict[str, list[Any]]:
    time.sleep(0.002)
    return {"next_visit": [0] * len(batch)}


def hosts(batch: Batch) -> dict[str, list[Any]]:
    return {"weight": [2.0 if pattern is None else None for pattern in batch.column("pattern")]}


def main() -> None:
    answers = {"pages": pages, "order": order, "refresh": refresh, "hosts": hosts}
    crawl = Crawl(Path(sys.argv[1]), DOORS, answers, scope={"kind": "any"})
    crawl.run(sys.argv[2], seconds=200)
    crawl.close()
    print(json.dumps(crawl.progress["doors"]))


if __name__ == "__main__":
    main()
