"""Requests/s of the simulated web beside nginx serving one static file of the same mean size.

Both have one worker on one core, wrk runs on another; the runs alternate and the median ratio
counts. Run with `python -m benches simweb`.
"""

import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from gossamer.simweb import Options, truth

ROUNDS = 3
SECONDS = 3
CONNECTIONS = 32
PAGES = 5_000
GOAL = 0.7

NGINX = """
worker_processes 1;
daemon off;
pid {dir}/nginx.pid;
error_log {dir}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  open_file_cache max=100;
  client_body_temp_path {dir};
  proxy_temp_path {dir};
  fastcgi_temp_path {dir};
  uwsgi_temp_path {dir};
  scgi_temp_path {dir};
  server {{ listen 127.0.0.1:{port}; root {dir}; }}
}}
"""

SCRIPT = """
local requests = {{}}
local at = 0
function init(args)
  for path in io.lines("{paths}") do requests[#requests + 1] = wrk.format("GET", path) end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(address: str, port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection((address, port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"nothing listens on port {port}")


def pinned(core: int) -> list[str]:
    return ["taskset", "-c", str(core)] if (os.cpu_count() or 1) > 1 else []


def lua(paths: Path, lines: list[str]) -> Path:
    """A script for wrk that asks for those paths in turn."""
    paths.write_text("\n".join(lines) + "\n")
    script = paths.with_suffix(".lua")
    script.write_text(SCRIPT.format(paths=paths))
    return script


def wrk(url: str, script: Path) -> tuple[float, float]:
    """Requests/s and mean bytes of a response."""
    command = [*pinned(1), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(script)]
    done = subprocess.run([*command, url], check=True, capture_output=True, text=True)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    total = re.search(r"(\d+) requests in [\d.]+\w+, ([\d.]+)(KB|MB|GB) read", done.stdout)
    if rate is None or total is None or "Non-2xx" in done.stdout:
        raise RuntimeError(done.stdout)
    unit = {"KB": 2**10, "MB": 2**20, "GB": 2**30}[total[3]]
    return float(rate[1]), float(total[2]) * unit / int(total[1])


def run() -> list[dict[str, object]]:
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        sim_port, nginx_port = free_port(), free_port()
        options = Options(hosts=1, pages=PAGES, port=sim_port)
        urls = truth(options).urls
        lines = [f"{u.path}{'?' * bool(u.query)}{u.query}" for u in map(urlsplit, urls)]
        script = lua(folder / "pages", lines)
        # The same work for the client: as many different requests, though all for one file.
        one_file = lua(folder / "file", [f"/page.html?{number}" for number in range(PAGES)])
        config = folder / "nginx.conf"
        config.write_text(NGINX.format(dir=folder, port=nginx_port))
        gossamer = [sys.executable, "-m", "gossamer.cli.main", "simweb", "serve"]
        size = [f"--port={sim_port}", "--hosts=1", f"--pages={PAGES}"]
        servers = [
            subprocess.Popen([*pinned(0), *gossamer, *size], stdout=subprocess.DEVNULL),
            subprocess.Popen([*pinned(0), nginx, "-c", str(config)], stderr=subprocess.DEVNULL),
        ]
        try:
            wait_for("127.1.1.1", sim_port)
            wait_for("127.0.0.1", nginx_port)
            _, mean = wrk(f"http://127.1.1.1:{sim_port}/", script)
            (folder / "page.html").write_bytes(b"x" * int(mean - 250))
            results = []
            theirs_mean = 0.0
            for _ in range(ROUNDS):
                ours, _ = wrk(f"http://127.1.1.1:{sim_port}/", script)
                theirs, theirs_mean = wrk(f"http://127.0.0.1:{nginx_port}/", one_file)
                results.append((ours, theirs))
        finally:
            for server in servers:
                server.terminate()
                server.wait()
    ours_rate = statistics.median(ours for ours, _ in results)
    theirs_rate = statistics.median(theirs for _, theirs in results)
    return [
        {
            "what": f"simweb, one worker, {mean:,.0f} bytes a page, every page another",
            "value": round(ours_rate),
            "unit": "requests/s",
            "beside": f"nginx, one worker, one file, {theirs_mean:,.0f} bytes: {theirs_rate:,.0f}",
            "ratio": round(statistics.median(ours / theirs for ours, theirs in results), 2),
            "bar": GOAL,
        }
    ]
