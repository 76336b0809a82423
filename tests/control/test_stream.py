"""Live updates: status every second, events as they happen, none lost over a break."""

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

from tests.control.serving import Served, until


class Stream:
    """A stream of server-sent events, read as a browser would."""

    def __init__(self, served: Served, after: int | None = None, token: str | None = None) -> None:
        self.connection = http.client.HTTPConnection(served.authority, timeout=10)
        headers = {"Authorization": f"Bearer {token or served.token()}"}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        self.connection.request("GET", "/api/v1/stream", headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.status == 200
        kind = self.response.headers["content-type"]
        assert kind.startswith("text/event-stream")

    def messages(self) -> Iterator[tuple[str, str | None, Any]]:
        fields: dict[str, str] = {}
        for raw in self.response:
            line = raw.decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                yield fields["event"], fields.get("id"), json.loads(fields["data"])
                fields = {}

    def close(self) -> None:
        self.response.close()
        self.connection.close()


def take(stream: Stream, kind: str, count: int) -> list[Any]:
    found = []
    for event, number, data in stream.messages():
        if event == kind:
            found.append((number, data))
            if len(found) == count:
                break
    return found


def test_status_comes_every_second(crawl: Served):
    stream = Stream(crawl, token=crawl.token("token-read"))
    rows = take(stream, "status", 5)
    times = [data["time"] for _, data in rows]
    # Four seconds, but for one reading that a clock being set right makes too many.
    assert 2.5 < times[-1] - times[0] < 7.0
    assert rows[-1][1]["pages"] >= rows[0][1]["pages"]
    assert rows[0][0] is None
    stream.close()


def test_no_event_is_lost_over_a_break(crawl: Served):
    stream = Stream(crawl)
    crawl.set(fetch__concurrency=5)
    [(number, event)] = take(stream, "event", 1)
    # Or an alert of this machine, which counts as well as any.
    assert event["kind"] == "setting" or event["kind"].startswith("alert")
    assert int(number) == event["id"]
    stream.close()
    for value in (6, 7, 8):
        crawl.set(fetch__concurrency=value)
    again = Stream(crawl, after=int(number))
    missed = take(again, "event", 3)
    assert [int(number) for number, _ in missed] == [event["id"] + n for n in (1, 2, 3)]
    again.close()


def test_streams_end_with_the_crawl(crawl: Served):
    streams = [Stream(crawl) for _ in range(5)]
    begun = time.monotonic()
    assert crawl.end() == 0
    kinds = [event["kind"] for _, _, event in streams[0].messages() if "kind" in event]
    assert [kind for kind in kinds if not kind.startswith("alert")] == ["stopped"]
    for stream in streams[1:]:
        for _ in stream.messages():
            pass
    # Nobody waits for those who read nothing.
    assert time.monotonic() - begun < 15
    for stream in streams:
        stream.close()


def test_metrics_history_and_alerts(crawl: Served):
    until(lambda: len(crawl.get("/history", seconds=60)["times"]) >= 4, "some readings")
    history = crawl.get("/history", seconds=60)
    assert history["step"] == 1.0
    for name, column in history["columns"].items():
        assert len(column) == len(history["times"]), name
    assert history["columns"]["pages"] == sorted(history["columns"]["pages"])
    # What goes back to the beginning is as fine as it is kept.
    whole = crawl.get("/history", seconds=20_000)
    assert whole["step"] == 1.0
    assert whole["oldest"] == whole["times"][0]
    text = until(
        lambda: (
            'gossamer_outcomes_total{outcome="fetched"}'
            in (found := crawl.ask("GET", "/metrics").body.decode())
            and found
        ),
        "pages are counted",
    )
    assert "\ngossamer_control_nodes 1.0\n" in text
    (control,) = crawl.get("/control-nodes")
    assert (control["state"], control["leads"], control["url"]) == ("leads", True, crawl.url)
    assert control["since"] < control["last_heartbeat"]
    for name in ("gossamer_pages_total", "gossamer_urls_queued", "gossamer_node_rss"):
        assert f"\n{name}" in text
    # How full this machine's disk is, is another matter; that it was busy for seconds passes.
    until(
        lambda: not [one for one in crawl.get("/alerts") if not one["kind"].startswith("disk")],
        "no alert stands",
    )
