"""Many nodes: what exchange costs, and how the rate grows with nodes whose lines are the limit.

Lines: each node in a network namespace of its own, behind a bridge to the one that has the simulated
web and the engine; what comes to a node is limited by `tc`. Needs root, `ip` and `tc`; without them
that part is left out, and said so. The rate is read from the web's own log, between the moment when
all nodes are at work and the end of a fixed time, so starting processes is not in it.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gossamer.cluster.requests import ask_control
from gossamer.engine import Access, Server, connect
from gossamer.engine.server import find_server
from gossamer.simweb import Options, serve

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]
WEB, NODE = "gossamer-web", "gossamer-node{}"
PORT, WEB_PORT = 4333, 8333
LINE = "16mbit"
HOSTS, PAGES = 400, 200_000
SECONDS = 20.0
BARS = {2: 1.9, 4: 3.7}
PLOT = Path("docs/images/scaling.svg")

Row = dict[str, object]


def run() -> list[Row]:
    rows = exchange()
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"):
        print("benches: lines are not limited here (needs root, ip and tc): scaling is left out")
        return rows
    return rows + scaling()


# --- the cost of exchange


def exchange() -> list[Row]:
    """Two nodes on one machine; nine of ten links stay on their host."""
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        out = Path(directory)
        web = stack.enter_context(serve(Options(port=0, hosts=HOSTS, pages=40_000, host_skew=0.0)))
        server = Server(out / "engine")
        server.start()
        stack.callback(server.stop)
        processes = [
            _start(_control(server.url, out, web.url, 2), out / "control.messages"),
            *(_start(_node(server.url, out, f"n{n}"), out / f"n{n}.messages") for n in (1, 2)),
        ]
        stack.callback(_end, processes)
        firsts, statuses = asyncio.run(_statuses(server.url, processes[0]))
    parts = [status["progress"] for status in statuses]

    def total(name: str) -> float:
        return float(sum(part[name] for part in parts))

    links = total("links_sent")

    def grown(name: str) -> float:
        """Since the first account: starting an interpreter is no part of crawling."""
        pairs = zip(firsts, statuses, strict=True)
        return float(sum(last[name] - first[name] for first, last in pairs))

    cpu = grown("cpu_seconds")
    spent = total("exchange_seconds") + grown("loop_seconds")
    hits = total("links_known") / max(1.0, total("links_asked"))
    return [
        {
            "what": f"exchange, 2 nodes, 90 % of links on their host: share of the nodes' CPU ({cpu:.0f} s)",
            "value": round(100 * spent / cpu, 1),
            "unit": "% (at most 10)",
            "beside": f"{total('pages'):.0f} pages, {links:.0f} links sent",
            # Ten divided by the share, so that more is better, as everywhere in this table.
            "ratio": round(0.10 * cpu / spent, 2),
            "bar": 1.0,
        },
        {
            "what": "exchange: bytes on the wire per link",
            "value": round(total("links_bytes") / max(1.0, links), 1),
            "unit": "bytes",
            "beside": f"{links / max(1.0, total('messages_sent')):.0f} links a message",
        },
        {
            "what": "exchange: links not sent because they were sent lately",
            "value": round(100 * hits, 1),
            "unit": "%",
        },
    ]


Statuses = list[dict[str, Any]]


async def _statuses(url: str, control: subprocess.Popen[bytes]) -> tuple[Statuses, Statuses]:
    """The nodes' own accounts at the beginning and near the end of the crawl."""
    line = await connect(Access([url]), "crawl", "bench")
    first: Statuses = []
    found: Statuses = []
    try:
        while control.poll() is None:
            with contextlib.suppress(Exception):
                asked = [
                    ask_control(line, "ask", {"node": f"n{n}", "name": "status"}, 2.0)
                    for n in (1, 2)
                ]
                statuses = await asyncio.gather(*asked)
                if all(status["progress"] for status in statuses):
                    found = list(statuses)
                    first = first or found
            await asyncio.sleep(0.5)
    finally:
        await line.close()
    if not found:
        raise RuntimeError("the cluster ended before it could be asked")
    return first, found


# --- lines


def scaling() -> list[Row]:
    rates: dict[int, float] = {}
    for nodes in (1, 2, 4):
        with tempfile.TemporaryDirectory() as directory, _network(nodes):
            rates[nodes] = _rate(nodes, Path(directory))
    _plot(rates)
    return [
        {
            "what": f"cluster, each node's line limited to {LINE}/s: {nodes} nodes",
            "value": round(rate, 1),
            "unit": "pages/s",
            "beside": f"one node: {rates[1]:.1f}",
            "ratio": round(rate / rates[1], 2),
            "bar": BARS.get(nodes),
        }
        for nodes, rate in rates.items()
    ]


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextlib.contextmanager
def _network(nodes: int) -> Iterator[None]:
    """A bridge, and a namespace behind a limited line for each node."""
    names = [WEB, *(NODE.format(n) for n in range(nodes))]
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip("-n", WEB, "link", "add", "br0", "type", "bridge")
        _ip("-n", WEB, "addr", "add", "10.99.0.1/24", "dev", "br0")
        for device in ("lo", "br0"):
            _ip("-n", WEB, "link", "set", device, "up")
        # Hosts of the simulated web are loopback addresses: let them be reached from outside.
        _sysctl(WEB, "all.route_localnet=1", "br0.route_localnet=1", "all.rp_filter=0")
        for n in range(nodes):
            name = NODE.format(n)
            _ip("link", "add", f"v{n}", "netns", WEB, "type", "veth", "peer", "e0", "netns", name)
            _ip("-n", WEB, "link", "set", f"v{n}", "master", "br0", "up")
            _ip("-n", name, "addr", "add", f"10.99.0.{10 + n}/24", "dev", "e0")
            _ip("-n", name, "link", "set", "e0", "up")
            _sysctl(name, "all.route_localnet=1", "e0.route_localnet=1")
            _ip("-n", name, "route", "add", "127.0.0.0/8", "via", "10.99.0.1")
            _in(WEB, ["tc", "qdisc", "add", "dev", f"v{n}", "root", "tbf", "rate", LINE,
                      "burst", "64kb", "latency", "100ms"])  # fmt: skip
        yield
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def _in(name: str, command: list[str]) -> None:
    subprocess.run(["ip", "netns", "exec", name, *command], check=True, capture_output=True)


def _sysctl(name: str, *settings: str) -> None:
    _in(name, ["sysctl", "-qw", *(f"net.ipv4.conf.{setting}" for setting in settings)])


def _rate(nodes: int, out: Path) -> float:
    """Pages per second when all nodes are at work."""
    inside = ["ip", "netns", "exec", WEB]
    log = out / "requests.log"
    (out / "nats.conf").write_text(
        f'port: {PORT}\nhost: "0.0.0.0"\njetstream {{ store_dir: "{out}/engine" }}\n'
    )
    url = f"nats://10.99.0.1:{PORT}"
    web = [
        *GOSSAMER, "simweb", "serve", "--port", str(WEB_PORT), "--hosts", str(HOSTS),
        "--pages", str(PAGES), "--host-skew", "0", "--log", str(log),
    ]  # fmt: skip
    processes = []
    try:
        processes.append(_start([*inside, *web], out / "web.messages", whole=True))
        engine = [find_server(), "-c", str(out / "nats.conf")]
        processes.append(_start([*inside, *engine], out / "engine.messages", whole=True))
        _until(lambda: "127" in (out / "web.messages").read_text(), "the web")
        _until(lambda: "ready" in (out / "engine.messages").read_text(), "the engine")
        seed = f"http://127.1.1.1:{WEB_PORT}/"
        control = [*inside, *GOSSAMER, *_control(url, out, seed, nodes)]
        processes.append(_start(control, out / "control.messages", whole=True))
        for n in range(nodes):
            node = ["ip", "netns", "exec", NODE.format(n), *GOSSAMER, *_node(url, out, f"n{n}")]
            processes.append(_start(node, out / f"n{n}.messages", whole=True))
        # All at work: each has fetched for some seconds at the rate of its line.
        logs = [out / "nodes" / f"n{n}" / "log" for n in range(nodes)]
        _until(lambda: all(_visits(log) > 1_000 for log in logs), "all nodes at work", 180.0)
        before, begun = _pages(log), time.monotonic()
        time.sleep(SECONDS)
        return (_pages(log) - before) / (time.monotonic() - begun)
    finally:
        _end(processes)


def _pages(log: Path) -> int:
    try:
        with log.open("rb") as file:
            return sum(1 for line in file if line.endswith(b" 200\n") and b"robots.txt" not in line)
    except FileNotFoundError:
        return 0


def _visits(logs: Path) -> int:
    """Visits that a node has logged so far."""
    return sum(file.read_bytes().count(b"\n") for file in logs.glob("*.jsonl*"))


def _until(condition: Any, what: str, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.2)


# --- processes


def _control(url: str, out: Path, seed: str, nodes: int) -> list[str]:
    return [
        "control", seed, "--engine", url, "--out", str(out / "control"), "--name", "control",
        "--expect", str(nodes), "--until-done", "--scope", "any", "--allow-private",
        "--delay", "0s", "--set", "politeness.response_factor=0", "--set", "control.port=0",
        "--set", "cluster.snapshot_every=1h", "--set", "alias.enabled=false",
    ]  # fmt: skip


def _node(url: str, out: Path, name: str) -> list[str]:
    return [
        "node", "--engine", url, "--name", name, "--out", str(out / "nodes" / name),
        "--snapshots", str(out / "snapshots"),
    ]  # fmt: skip


def _start(arguments: list[str], messages: Path, *, whole: bool = False) -> subprocess.Popen[bytes]:
    command = arguments if whole else [*GOSSAMER, *arguments]
    with messages.open("wb") as file:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in reversed(processes):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _plot(rates: dict[int, float]) -> None:
    """Rate over nodes beside the line of an ideal cluster, as SVG."""
    width, height, left, bottom = 480, 320, 60, 40
    most = rates[1] * max(rates)

    def x(nodes: float) -> float:
        return left + (width - left - 20) * nodes / max(rates)

    def y(rate: float) -> float:
        return height - bottom - (height - bottom - 20) * rate / most

    points = " ".join(f"{x(n):.1f},{y(rate):.1f}" for n, rate in sorted(rates.items()))
    marks = "".join(
        f'<circle cx="{x(n):.1f}" cy="{y(rate):.1f}" r="4" fill="#0b6"/>'
        f'<text x="{x(n) - 8:.1f}" y="{y(rate) - 10:.1f}" text-anchor="end">{rate:.0f}</text>'
        f'<text x="{x(n):.1f}" y="{height - 20}" text-anchor="middle">{n}</text>'
        for n, rate in rates.items()
    )
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    PLOT.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">'
        f'<rect width="{width}" height="{height}" fill="white"/>'
        f'<path d="M{left},20V{height - bottom}H{width - 20}" fill="none" stroke="#555"/>'
        f'<line x1="{x(0)}" y1="{y(0)}" x2="{x(max(rates))}" y2="{y(most)}" stroke="#bbb" '
        'stroke-dasharray="4"/>'
        f'<polyline points="{points}" fill="none" stroke="#0b6" stroke-width="2"/>{marks}'
        f'<text x="{width / 2}" y="{height - 4}" text-anchor="middle">nodes</text>'
        f'<text x="14" y="{height / 2}" transform="rotate(-90 14 {height / 2})" '
        'text-anchor="middle">pages/s</text>'
        f'<text x="{left + 10}" y="32">each node behind a line of {LINE}/s; dashed: ideal</text>'
        "</svg>\n"
    )


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
