"""Credentials in files, where an event loop runs: reading them holds up nothing."""

from pathlib import Path

from tests.policy.rules_site import page, serving

from gossamer.node.standalone import Interrupt, Standalone
from gossamer.settings import check
from gossamer.settings.table import changed


async def test_a_file_is_read_once_at_the_start_outside_the_loop(tmp_path: Path) -> None:
    """The watch over the loop raises where it is read inside; a later change needs it no more."""
    key = tmp_path / "key"
    key.write_text("first\n")
    with serving({"/": page("/a"), "/a": page()}) as site:
        settings = check(
            {
                "fetch": {"allow_private": True},
                "politeness": {"delay": "0s", "response_factor": 0},
                "credentials": {"members": {"headers": {"X-Key": f"file:{key}"}}},
                "rule": [
                    {"name": "in", "match": {"host": "127.0.0.1"}, "credentials": "members"},
                ],
            },
            "test",
        )  # fmt: skip
        out = tmp_path / "out"
        out.mkdir()
        async with Standalone(out, settings) as crawl:
            key.unlink()
            await crawl.apply(changed(settings, {"politeness.delay": "1ms"}))
            await crawl.add_seeds([f"{site.url}/"])
            progress = await crawl.run(lambda _: None, Interrupt())
    assert progress.pages == 2
    assert {one.headers.get("X-Key") for one in site.requests} == {"first"}
