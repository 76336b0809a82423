"""What `gossamer status` says of policies, in words."""

import re
from pathlib import Path

import pytest
import tomli_w
from tests.audit.crawls import gossamer
from tests.control.serving import Served, until
from tests.packages.installing import path_with
from tests.policy.crawls import WEB

from gossamer.simweb import serve


def test_status_has_a_line_for_each_door_with_a_policy(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", path_with(package))
    config = tmp_path / "policies.toml"
    settings = {
        "doors": {"pages": ["marking"], "order": "bad-order", "patience": "60s"},
        "policy": {"bad-order": {"how": "raise"}},
    }
    config.write_text(tomli_w.dumps(settings))
    with serve(WEB) as web:
        crawl = Served(tmp_path / "out", web)
        try:
            # Slow enough to ask the policy again after its first rest, should we look too late.
            crawl.start("--config", str(config), "--delay", "500ms", "--stay")

            def said() -> str | None:
                done = gossamer("status", "--out", crawl.out)
                assert done.returncode == 0, done.stderr
                pages = crawl.get("/status")["doors"]["pages"]["batches"]
                return done.stdout if "rests for" in done.stdout and pages else None

            text = until(said, "the door of order rests")
        finally:
            crawl.kill()
    lines = dict(re.findall(r"^policy of (\w+): (.*)$", text, re.MULTILINE))
    assert set(lines) == {"pages", "order"}
    assert re.fullmatch(r"[\d ]+ batches, [\d ]+ rows, 0 failures", lines["pages"])
    assert re.fullmatch(
        r"0 batches, 0 rows, [\d ]+ failures, rests for \d+ s; "
        r"last failure: bad-order raised: RuntimeError: raised on purpose",
        lines["order"],
    )
